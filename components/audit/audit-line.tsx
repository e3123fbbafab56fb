import { Anchor } from '@mantine/core';
import { IconAlertTriangle, IconBan, IconCheck, IconHelpCircle, IconMinus } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import { useState } from 'react';
import type { AuditEntry } from '@/lib/shared/model';
import { timeInId } from '@/lib/shared/changes/record-time';
import { visibleText } from '@/lib/shared/text/visible-text';
import { useFormat } from '../figures/use-format';
import { FactList } from '../frame/note';
import { useBecauseText } from '../interventions/operations';
import { AbsoluteTime, RelativeTime } from '../figures/time';
import { eventHref } from '../hrefs';
import classes from './audit.module.css';

interface AuditSentenceProps {
  entry: AuditEntry;
  outboxName: string;
  /** On the event's own page: does not name the event. */
  brief?: boolean;
}

/** Who did what to which event, and why: a line of the audit without its time. */
export function AuditSentence({ entry, outboxName, brief }: AuditSentenceProps) {
  const t = useTranslations();
  const because = useBecauseText();
  const format = useFormat();
  const { operation, outcome, eventId, code, interventionId } = entry;
  const made = interventionId === null ? null : timeInId(interventionId);
  const values = entry.after ?? entry.before;
  const sentence = t.has(`operations.${operation}.sentence`)
    ? (`operations.${operation}.sentence` as const)
    : t.has(`audit.sentences.${operation}`)
      ? (`audit.sentences.${operation}` as const)
      : 'audit.sentence';
  return (
    <span className={classes.sentence}>
      {t.rich(sentence, {
        outcome,
        operation,
        actor: () => <bdi className={classes.actor}>{entry.actor}</bdi>,
        outbox: () => <bdi className={classes.outbox}>{outboxName}</bdi>,
        scope: entry.outbox === null ? 'all' : 'one',
        subject: visibleText(values?.email ?? values?.name ?? ''),
      })}
      {!brief && eventId !== null && entry.outbox !== null && (
        <>
          {' ('}
          <Anchor component={Link} href={eventHref(entry.outbox, eventId)} prefetch={false} inherit>
            <bdi>{[entry.eventType, entry.aggregateId ?? eventId].filter((part) => part !== null).join(' · ')}</bdi>
          </Anchor>
          {')'}
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

function BeforeAfter({ before, after }: Pick<AuditEntry, 'before' | 'after'>) {
  const t = useTranslations('audit.diff');
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const rows = names
    .map((name) => ({ name, from: before?.[name], to: after?.[name] }))
    .map((row) => ({ ...row, changed: row.from !== row.to }))
    .sort((a, b) => Number(b.changed) - Number(a.changed));
  const text = (value: string | null | undefined) =>
    value === undefined ? (
      <span className={classes.absent}>{t('none')}</span>
    ) : value === null ? (
      <span className={classes.absent}>NULL</span>
    ) : (
      <bdi>{visibleText(value)}</bdi>
    );
  return (
    <div className={classes.diffFrame} tabIndex={0} role="region" aria-label={t('title')}>
      <table className={classes.diff}>
        <thead>
          <tr>
            <th scope="col">{t('column')}</th>
            <th scope="col">{t('before')}</th>
            <th scope="col">{t('after')}</th>
          </tr>
        </thead>
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
  return <FactList className={classes.deed} facts={facts} />;
}

const ICONS = { applied: IconCheck, none: IconMinus, refused: IconBan, unknown: IconHelpCircle } as const;

export function AuditLine({ entry, outboxName }: { entry: AuditEntry; outboxName: string }) {
  const t = useTranslations('audit');
  const [open, setOpen] = useState(false);
  const Icon = ICONS[entry.outcome];
  const hasRow = entry.before !== null || entry.after !== null;
  // A sign-in or a new token has no values before it.
  const deed = entry.eventId === null && entry.before === null ? entry.after : null;
  return (
    <li className={classes.line} data-outcome={entry.outcome}>
      <span className={classes.outcome}>
        <Icon size={14} aria-hidden />
        {t(`outcomes.${entry.outcome}`)}
      </span>
      <div>
        <AuditSentence entry={entry} outboxName={outboxName} />
        <div className={classes.meta}>
          <AbsoluteTime at={entry.at} />
          <span>
            <RelativeTime at={entry.at} />
          </span>
          {t.has(`roles.${entry.role}`) && <span>{t('as', { role: t(`roles.${entry.role}`) })}</span>}
        </div>
        {hasRow && (
          <details className={classes.details} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{t(deed === null ? 'diff.title' : 'deed.title')}</summary>
            {open && (deed === null ? <BeforeAfter before={entry.before} after={entry.after} /> : <DeedDetails of={deed} />)}
          </details>
        )}
      </div>
    </li>
  );
}
