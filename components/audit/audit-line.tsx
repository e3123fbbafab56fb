import { Loader } from '@mantine/core';
import { IconAlertTriangle, IconBan, IconCheck, IconHelpCircle, IconMinus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { AuditEntry, AuditPage } from '@/lib/shared/model';
import type { Action } from '@/lib/shared/problems';
import { timeInId } from '@/lib/shared/changes/record-time';
import { visibleText } from '@/lib/shared/text/visible-text';
import { AbsoluteTime, RelativeTime, useFormat } from '../figures/format';
import { FactList, TableHead } from '../frame/note';
import { TextLink } from '../frame/controls';
import { useBecauseText } from '../interventions/operations';
import { actionHref, eventHref } from '../hrefs';
import classes from './audit.module.css';

/** How many events an action was about; 1 for the line of an event. */
const eventsOf = ({ events }: AuditEntry): number => (events === undefined ? 1 : events.changed + events.left);

/** Who did what to which event, and why: a line of the audit without its time; `brief` on the event's own page, which it does not name. */
export function AuditSentence({ entry, outboxName, brief }: { entry: AuditEntry; outboxName: string; brief?: boolean }) {
  const t = useTranslations();
  const because = useBecauseText();
  const format = useFormat();
  const { operation, eventId, interventionId, events } = entry;
  const several = eventsOf(entry) > 1;
  const outcome = outcomeOf(entry);
  const code = several ? null : entry.code;
  const made = interventionId === null ? null : timeInId(interventionId);
  const values = entry.after ?? entry.before;
  const own = [`operations.${operation}.sentence`, `audit.sentences.${operation}`] as const;
  return (
    <span className={classes.sentence}>
      {t.rich(own.find((key) => t.has(key)) ?? 'audit.sentence', {
        outcome,
        operation,
        count: several ? (events?.changed ?? 0) || eventsOf(entry) : 1,
        actor: () => <bdi className={classes.actor}>{entry.actor}</bdi>,
        outbox: () => <bdi className={classes.outbox}>{outboxName}</bdi>,
        scope: entry.outbox === null ? 'all' : 'one',
        subject: visibleText(values?.email ?? values?.name ?? ''),
      })}
      {!brief && !several && eventId !== null && (
        <>
          {' '}
          (<EventName entry={entry} />)
        </>
      )}
      {entry.reason !== '' && (
        <>
          {': '}
          <q className={classes.reason}>
            <bdi>{visibleText(entry.reason)}</bdi>
          </q>
        </>
      )}
      {several && events !== undefined && events.changed > 0 && events.left > 0 && (
        <span className={classes.code}>{t('interventions.run.skipped', { skipped: events.left })}</span>
      )}
      {entry.oddities.map((oddity) => (
        <span key={oddity} className={classes.odd}>
          <IconAlertTriangle size={13} aria-hidden />
          {t(`audit.oddities.${oddity}`, { at: format.absolute(entry.at), made: made === null ? '' : format.absolute(made) })}
        </span>
      ))}
      {code !== null && <span className={classes.code}>{outcome === 'refused' ? t('audit.refusedBecause', { code }) : because(code)}</span>}
    </span>
  );
}

function EventName({ entry: { outbox, eventId, eventType, aggregateId } }: { entry: AuditEntry }) {
  if (outbox === null || eventId === null) return null;
  return (
    <TextLink
      href={eventHref(outbox, eventId)}
      prefetch={false}
      inherit
      label={<bdi>{[eventType, aggregateId ?? eventId].filter((part) => part !== null).join(' · ')}</bdi>}
    />
  );
}

function BeforeAfter({ before, after }: Pick<AuditEntry, 'before' | 'after'>) {
  const t = useTranslations('audit.diff');
  const rows = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
    .map((name) => ({ name, from: before?.[name], to: after?.[name] }))
    .map((row) => ({ ...row, changed: row.from !== row.to }))
    .sort((a, b) => Number(b.changed) - Number(a.changed));
  const text = (value: string | null | undefined) =>
    value == null ? <span className={classes.absent}>{value === null ? 'NULL' : t('none')}</span> : <bdi>{visibleText(value)}</bdi>;
  return (
    <div className={classes.diffFrame} tabIndex={0} role="region" aria-label={t('title')}>
      <table className={classes.diff}>
        <TableHead columns={[t('column'), t('before'), t('after')]} />
        <tbody>
          {rows.map(({ name, from, to, changed }) => (
            <tr key={name} data-changed={changed || undefined}>
              <th scope="row">{name}</th>
              <td>{text(from)}</td>
              <td>{text(to)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Details of an entry about no event: the address of a sign-in, the role of a new token. */
function DeedDetails({ of }: { of: NonNullable<AuditEntry['after']> }) {
  const t = useTranslations('audit');
  const text = (name: string, value: string | null): string => {
    if (value === null) return name === 'days' ? t('deed.noEnd') : 'NULL';
    return name === 'role' && t.has(`roles.${value}`) ? t(`roles.${value}`) : visibleText(value);
  };
  const facts = Object.entries(of).map(
    ([name, value]) => [t.has(`deed.names.${name}`) ? t(`deed.names.${name}`) : name, <bdi>{text(name, value)}</bdi>] as const,
  );
  return <FactList paired className={classes.deed} facts={facts} />;
}

const ICONS = { applied: IconCheck, none: IconMinus, refused: IconBan, unknown: IconHelpCircle } as const;

/** Done, if any of its events was changed. */
const outcomeOf = ({ outcome, events }: AuditEntry): AuditEntry['outcome'] => ((events?.changed ?? 0) > 0 ? 'applied' : outcome);

interface AuditLineProps {
  entry: AuditEntry;
  outboxName: string;
  load: Action<{ query: string }, AuditPage>;
  /** Below the line of its action: names the event alone. */
  within?: boolean;
}

/** An action, with its events below it when it is opened, or the line of one event. */
export function AuditLine({ entry, outboxName, load, within = false }: AuditLineProps) {
  const t = useTranslations('audit');
  const because = useBecauseText();
  const [open, setOpen] = useState(false);
  const outcome = outcomeOf(entry);
  const Icon = ICONS[outcome];
  const several = eventsOf(entry) > 1;
  const hasRow = entry.before !== null || entry.after !== null;
  // A sign-in or a new token has no values before it.
  const deed = entry.eventId === null && entry.before === null ? entry.after : null;
  return (
    <li className={classes.line} data-outcome={outcome}>
      <span className={classes.outcome}>
        <Icon size={14} aria-hidden />
        {t(`outcomes.${outcome}`)}
      </span>
      <div>
        {within ? <EventName entry={entry} /> : <AuditSentence entry={entry} outboxName={outboxName} />}
        {within && entry.code !== null && <span className={classes.code}>{because(entry.code)}</span>}
        <div className={classes.meta} hidden={within}>
          <AbsoluteTime at={entry.at} />
          <span>
            <RelativeTime at={entry.at} />
          </span>
          {t.has(`roles.${entry.role}`) && <span>{t('as', { role: t(`roles.${entry.role}`) })}</span>}
        </div>
        {(several || hasRow) && (
          <details className={classes.details} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{several ? t('events', { count: eventsOf(entry) }) : t(deed === null ? 'diff.title' : 'deed.title')}</summary>
            {open &&
              (several ? (
                <ActionLines action={entry.interventionId ?? ''} outboxName={outboxName} load={load} />
              ) : deed === null ? (
                <BeforeAfter before={entry.before} after={entry.after} />
              ) : (
                <DeedDetails of={deed} />
              ))}
          </details>
        )}
      </div>
    </li>
  );
}

/** The first lines of an action, and a way to all of them. */
function ActionLines({ action, outboxName, load }: Omit<AuditLineProps, 'entry'> & { action: string }) {
  const t = useTranslations('audit');
  const { data, isError } = useQuery({ queryKey: ['audit', 'action', action], queryFn: () => load({ query: `action=${action}` }) });
  if (isError || data?.ok === false) return <p role="alert">{t('linesUnread')}</p>;
  if (data === undefined) return <Loader size={14} type="dots" aria-hidden />;
  return (
    <>
      <ol className={classes.frame} aria-label={t('event')}>
        {data.value.entries.map((entry) => (
          <AuditLine key={entry.id} entry={entry} outboxName={outboxName} load={load} within />
        ))}
      </ol>
      {data.value.nextCursor !== null && <TextLink href={actionHref(action)} size="sm" label={t('allLines')} />}
    </>
  );
}
