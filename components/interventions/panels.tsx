import { Alert, Loader } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconClock } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { type ComponentProps, type ReactNode, useEffect, useEffectEvent } from 'react';
import { failuresOf, type Fates, isFollowed, outOf, underWay } from '@/lib/shared/changes/fates';
import type { InterventionPreview, InterventionResult } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import { RelativeTime, useAgo, useFormat } from '../figures/format';
import { useConsole } from '../frame/console';
import frame from '../frame/frame.module.css';
import { TextButton, TextLink } from '../frame/controls';
import { valueOf } from '../frame/use-change';
import { actionHref, eventHref, outboxAuditHref, outboxHref } from '../hrefs';
import classes from './intervention-dialog.module.css';
import { groupSkipped, useOperationName, useSkipText } from './operations';
import { lookAfterMs, type Open, type Opening, useOutcome, type Sending } from './use-sending';
import problem from './problem-panel.module.css';
import { forgetSent, type Sent, sentBy } from './sent';

interface PanelProps {
  /** Announced by screen readers when it appears. */
  live?: boolean;
  /** The last one is the primary button. */
  buttons: ComponentProps<typeof TextButton>[];
  children: ReactNode;
}

/** The content of one state of the dialog, above its buttons. */
function Panel({ live, buttons, children }: PanelProps) {
  return (
    <div className={classes.form} role={live ? 'status' : undefined}>
      <div className={classes.scroll}>{children}</div>
      <div className={classes.buttons}>
        {buttons.map((button, index) => (
          <TextButton key={button.label} variant={index < buttons.length - 1 ? 'default' : undefined} {...button} />
        ))}
      </div>
    </div>
  );
}

interface ResultPanelProps {
  result: InterventionResult;
  /** What becomes of the changed events; null if they were not sent again. */
  followed: Followed | null;
  subject: Opening['subject'];
  rows: InterventionPreview['rows'];
  onClose: () => void;
  onUndo: Open;
}

/** What changed and what becomes of it, what was left alone and why, and where it is recorded. Stays until it is closed. */
export function ResultPanel({ result, followed, subject, rows, onClose, onUndo }: ResultPanelProps) {
  const t = useTranslations();
  const name = useOperationName();
  const skipText = useSkipText();
  const format = useFormat();
  const { undo, changed, operation, actor, at } = result;
  // Without a version: the rows are read when the dialog opens again.
  const undone = changed.map((id) => ({ id, version: '' }));
  const nameOf = (id: string) => {
    const event = rows.find((row) => row.event.id === id)?.event;
    return event === undefined ? id : [event.type, event.aggregateId ?? event.id].filter((part) => part !== null).join(' · ');
  };
  const fates = new Map(followed?.fates?.events.map(({ id, fate }) => [id, fate]));
  const fateOf = (id: string) => {
    const fate = fates.get(id);
    return fate && <span data-fate={fate}>{t(`interventions.fates.words.${fate}`)}</span>;
  };
  const sent = followed === null ? 'interventions.changed' : 'interventions.sentAgain';
  const done = t.has(`operations.${operation}.done`) ? (`operations.${operation}.done` as const) : sent;
  const groups = [
    { look: followed === null ? classes.changed : classes.sent, heading: t(done, { count: changed.length }), ids: changed },
    ...groupSkipped(result.skipped, skipText).map(({ why, ids }) => ({
      look: classes.skipped,
      heading: t('interventions.skippedHeading', { count: ids.length, why }),
      ids,
    })),
  ];
  return (
    <Panel
      live={followed === null}
      buttons={[
        ...(undo === null || changed.length === 0
          ? []
          : [{ label: t('interventions.undo', { operation: name(undo) }), onClick: () => onUndo(subject, undo, undone) }]),
        { label: t('interventions.done'), onClick: onClose, autoFocus: true },
      ]}
    >
      {followed !== null && <FateLine followed={followed} />}
      {groups
        .filter(({ ids }) => ids.length > 0)
        .map(({ look, heading, ids }) => (
          <section key={ids[0]}>
            <h3 className={look}>{heading}</h3>
            <ul className={classes.names}>
              {ids.slice(0, NAMES_SHOWN).map((id) => (
                <li key={id}>
                  <TextLink href={eventHref(subject.id, id)} label={<bdi>{nameOf(id)}</bdi>} /> {fateOf(id)}
                </li>
              ))}
              {ids.length > NAMES_SHOWN && <li>{t('interventions.moreEvents', { count: ids.length - NAMES_SHOWN })}</li>}
            </ul>
          </section>
        ))}
      <p className={classes.record}>
        {t('interventions.recorded', { actor, at: at === null ? '' : format.absolute(at) })}{' '}
        <TextLink href={actionHref(result.interventionId)} label={t('interventions.seeRecord')} />
        {changed.length > 1 && (
          <>
            {' · '}
            <TextLink href={outboxHref(subject.id)} label={t('interventions.watch', { outbox: subject.name })} />
          </>
        )}
      </p>
    </Panel>
  );
}

/** Events named here at most; the record has all. */
const NAMES_SHOWN = 100;

type Unknown = Extract<Sending, { phase: 'checking' | 'absent' }>;

/** The third outcome: sent, but not answered. It is checked automatically and never sent again. */
export function UnknownPanel({ sending, opening, onClose }: { sending: Unknown; opening: Opening; onClose: () => void }) {
  const t = useTranslations('interventions');
  return (
    <Panel
      live
      buttons={[
        { label: t('seeAudit'), href: outboxAuditHref(opening.subject.id) },
        { label: t('close'), onClick: onClose },
      ]}
    >
      {sending.phase === 'absent' ? <p>{t('absent')}</p> : <Checking key={sending.sent.key} {...sending} />}
      <p className={problem.reference}>{t('key', { key: opening.key })}</p>
    </Panel>
  );
}

function Checking({ sent, onKnown }: Extract<Unknown, { phase: 'checking' }>) {
  const t = useTranslations('interventions');
  const ago = useAgo();
  const { end, checkedAt } = useOutcome(sent);
  useEffect(() => {
    if (end !== null) onKnown(end);
  }, [end, onKnown]);
  return (
    <>
      <p>{t('unknown')}</p>
      <p className={classes.checking}>
        <Loader size={14} type="dots" aria-hidden />
        {checkedAt === null ? t('checking') : t('checkedAt', { ago: ago(checkedAt) })}
      </p>
    </>
  );
}

/** An intervention sent before this page was loaded, or whose dialog was closed: what became of it, and of its events. */
export function SentNotice({ sent, onClose }: { sent: Sent; onClose: () => void }) {
  const t = useTranslations('interventions');
  const name = useOperationName();
  const resultSentence = useResultSentence();
  const ago = useAgo();
  // Another tab may have got the answer meanwhile.
  const { end: known, checkedAt } = useOutcome(sent, () => sentBy(sent.account).some(({ key }) => key === sent.key));
  const close = useEffectEvent(onClose);
  useEffect(() => {
    if (known === 'gone') close();
    else if (known !== null) forgetSent(sent.key);
  }, [known, sent.key]);
  const end = known === 'gone' ? null : known;
  const result = end !== null && 'result' in end ? end.result : null;
  const operation = name(sent.operation);
  const followed = useFates(sent.outbox, result);
  const hue = end === null ? 'yellow' : followed === null ? 'green' : hueOf(followed);
  const Icon = hue === 'green' ? IconCheck : hue === 'grey' ? IconClock : IconAlertTriangle;
  return (
    <Alert
      color={{ green: 'accent', grey: 'gray', red: 'red', yellow: 'yellow' }[hue]}
      icon={<Icon size={18} aria-hidden />}
      title={
        end === null
          ? t('unknownTitle', { operation })
          : result === null
            ? t('absentTitle', { operation })
            : `${operation}: ${resultSentence(result, followed)}`
      }
      withCloseButton={end !== null}
      closeButtonLabel={t('close')}
      onClose={onClose}
      classNames={{ root: frame.notice, title: frame.noticeTitle, icon: end === null ? frame.noticeIcon : undefined }}
    >
      {followed !== null && <FateLine followed={followed} />}
      <p>{t('sent', { count: sent.count, outbox: sent.outboxName, ago: ago(sent.sentAt) })}</p>
      {result === null && <p>{t(end === null ? 'unknown' : 'absent')}</p>}
      {end === null && <p>{checkedAt === null ? t('checking') : t('checkedAt', { ago: ago(checkedAt) })}</p>}
      <TextLink href={outboxAuditHref(sent.outbox)} label={t('seeAudit')} />
    </Alert>
  );
}

export interface Followed {
  /** null before the first answer. */
  fates: Fates | null;
  /** The last look failed: what is known is older. */
  late: boolean;
}

/** What becomes of the events of a result, looked at again until none is under way; null if they were not sent again. */
export function useFates(outbox: string, result: InterventionResult | null): Followed | null {
  const { follow } = useConsole().interventions;
  const intervention = result?.interventionId ?? '';
  const sent = result !== null && isFollowed(result.operation) && result.changed.length > 0;
  const { data, isError } = useQuery({
    queryKey: ['fates', outbox, intervention],
    enabled: sent,
    queryFn: () => valueOf(follow({ outbox, intervention })),
    refetchInterval: ({ state }) => (state.data !== undefined && underWay(state.data) === 0 ? false : lookAfterMs(state)),
    refetchIntervalInBackground: true,
    staleTime: Infinity,
  });
  return sent ? { fates: data ?? null, late: isError } : null;
}

/** Green only when all are out. */
export function hueOf({ fates }: Followed): 'green' | 'red' | 'grey' {
  if (fates === null) return 'grey';
  if (failuresOf(fates) > 0) return 'red';
  return outOf(fates) === fates.events.length ? 'green' : 'grey';
}

const sameOf = (fates: Fates): 'all' | 'none' | 'some' | 'unknown' =>
  fates.sameError === null ? 'unknown' : fates.sameError === 0 ? 'none' : fates.sameError === failuresOf(fates) ? 'all' : 'some';

/** A result as a title: how far its events are; what changed before the first look, and where they were not sent again. */
export function useResultSentence() {
  const t = useTranslations('interventions');
  return ({ outcome, changed, skipped }: InterventionResult, followed: Followed | null): string => {
    if (followed?.fates == null) return t(`outcome.${outcome}`, { changed: changed.length, skipped: skipped.length });
    const { fates } = followed;
    const [out, all, died] = [outOf(fates), fates.events.length, fates.fates.failedAgain];
    const word = died > 0 ? 'titleDied' : out === all ? 'titleOut' : underWay(fates) > 0 ? 'titleUnderWay' : 'titleSome';
    const title = t(`fates.${word}`, { died, out, all });
    return skipped.length === 0 ? title : `${title} · ${t('run.skipped', { skipped: skipped.length })}`;
  };
}

/** "12 out · 30 waiting · 3 died again, same error", and that error. */
export function FateLine({ followed: { fates, late } }: { followed: Followed }) {
  const t = useTranslations('interventions.fates');
  if (fates === null) {
    return (
      <div className={classes.fate} role="status">
        {t('looking')} <Loader size={14} type="dots" aria-hidden />
      </div>
    );
  }
  const { published, gone, waiting, retrying, failedAgain, notKnown } = fates.fates;
  const same = t('same', { same: sameOf(fates), count: fates.sameError ?? 0 });
  const parts = [
    ...(published > 0 || (gone === 0 && failuresOf(fates) + notKnown + waiting === 0) ? [t('out', { count: published })] : []),
    ...(gone > 0 ? [t(fates.goneIsOut ? 'goneOut' : 'gone', { count: gone })] : []),
    ...(waiting > 0 ? [t('waiting', { count: waiting })] : []),
    ...(retrying > 0 ? [t('retrying', { count: retrying }) + (failedAgain > 0 ? '' : same)] : []),
    ...(failedAgain > 0 ? [t('died', { count: failedAgain }) + same] : []),
    ...(notKnown > 0 ? [t('notKnown', { count: notKnown })] : []),
  ];
  return (
    <div className={classes.fate} data-hue={hueOf({ fates, late })}>
      <span role="status">{parts.join(' · ')}</span>
      {late && <span className={classes.late}>{t.rich('late', { ago: () => <RelativeTime at={fates.asOf} /> })}</span>}
      {failuresOf(fates) > 0 && fates.error !== null && <bdi className={classes.triedError}>{visibleText(fates.error)}</bdi>}
    </div>
  );
}
