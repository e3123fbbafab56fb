import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import type { CauseNote, CauseSample, DeadLetterGroup } from '@/lib/shared/dead-letter-groups';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import type { Action } from '@/lib/shared/problems';
import type { Run } from '@/lib/shared/runs/runs';
import { visibleText } from '@/lib/shared/text/visible-text';
import { RelativeTime } from '../figures/format';
import { PlainLink } from '../frame/go';
import { TextButton } from '../frame/controls';
import { ReasonPopover } from '../frame/reason-popover';
import { useChange, valueOf } from '../frame/use-change';
import { eventHref, runHref } from '../hrefs';
import { useOperationName } from '../interventions/operations';
import { useRunSentence } from '../runs/run-sentence';
import classes from './causes.module.css';

/** How more is learnt and said of a cause. */
export interface CauseDetails {
  read: Action<{ outbox: string; cause: string; events: string[] }, { samples: CauseSample[]; tried: Run[] | null }>;
  /** An empty note takes it off; null where the viewer may write none. */
  note: Action<{ outbox: string; cause: string; note: string }, { note: CauseNote | null }> | null;
  /** Whether the table of the outbox keeps errors. */
  keepsError: (outbox: string) => boolean;
  onChanged: () => Promise<void>;
}

interface CausePanelProps {
  group: DeadLetterGroup;
  details: CauseDetails;
}

/** Below a cause's line: when it was seen, why its events are together, what was tried, and what operators wrote about it. */
export function CausePanel({ group, details }: CausePanelProps) {
  const t = useTranslations('deadLetters.details');
  const { outbox, id, samples, firstSeenAt, lastSeenAt, seen, retrying, newSince } = group;
  const { data, isError } = useQuery({
    queryKey: ['cause', outbox, id, samples],
    queryFn: () => valueOf(details.read({ outbox, cause: id, events: samples })),
    placeholderData: keepPreviousData,
    refetchInterval: POLL_INTERVAL_MS,
  });
  const keepsError = details.keepsError(outbox);
  return (
    <div className={classes.details}>
      <p>
        {firstSeenAt !== null && lastSeenAt !== null && (
          <span>
            {t.rich('seen', { seen, first: () => <RelativeTime at={firstSeenAt} />, last: () => <RelativeTime at={lastSeenAt} /> })}
          </span>
        )}
        {newSince !== null && <span>{t.rich('new', { at: () => <RelativeTime at={newSince} /> })}</span>}
        {retrying > 0 && <span>{t('retrying', { count: retrying })}</span>}
      </p>
      <p>{t(!keepsError ? 'byType' : group.samples.length > 1 ? 'differ' : 'same')}</p>
      {isError && <p role="alert">{t('unread')}</p>}
      {data && !isError && (
        <>
          <Samples outbox={outbox} samples={data.samples} shown={keepsError} />
          <Tried runs={data.tried ?? []} />
        </>
      )}
      <Noted group={group} details={details} />
    </div>
  );
}

function Samples({ outbox, samples, shown }: { outbox: string; samples: readonly CauseSample[]; shown: boolean }) {
  const t = useTranslations('deadLetters');
  if (samples.length === 0) return <p>{t('details.gone')}</p>;
  return (
    <ul className={classes.samples}>
      {samples.map((event) => (
        <li key={event.id}>
          <PlainLink href={eventHref(outbox, event.id)}>
            <bdi>{visibleText(event.id)}</bdi>
          </PlainLink>
          {shown && <bdi>{event.error === null ? t('noError') : visibleText(event.error)}</bdi>}
        </li>
      ))}
    </ul>
  );
}

/** What runs of the cause's plans did, each with the way to it. */
function Tried({ runs }: { runs: readonly Run[] }) {
  const t = useTranslations('deadLetters.details');
  if (runs.length === 0) return null;
  return (
    <>
      <p>{t('tried')}</p>
      <ul className={classes.samples}>
        {runs.map((run) => (
          <li key={run.id}>
            <TriedRun run={run} />
            <span>{t.rich('triedBy', { actor: run.maker, at: () => <RelativeTime at={run.createdAt} /> })}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function TriedRun({ run }: { run: Run }) {
  const operationName = useOperationName();
  const { title } = useRunSentence(run);
  return (
    <PlainLink href={runHref(run.id)}>
      {operationName(run.operation)}: {title}
    </PlainLink>
  );
}

function Noted({ group: { outbox, id, note }, details: { note: write, onChanged } }: Pick<CausePanelProps, 'group' | 'details'>) {
  const t = useTranslations('deadLetters.details');
  const about = { outbox, cause: id };
  const removing = useChange((send: NonNullable<typeof write>) => send({ ...about, note: '' }), { onDone: onChanged });
  return (
    <div className={classes.noted}>
      {note !== null && (
        <p>
          <q>
            <bdi>{visibleText(note.text)}</bdi>
          </q>
          <span>{t.rich('noteBy', { actor: note.actor, at: () => <RelativeTime at={note.at} /> })}</span>
        </p>
      )}
      {write !== null && (
        <ReasonPopover
          label={t(note === null ? 'noteWrite' : 'noteChange')}
          size="compact-xs"
          title={t('noteTitle')}
          reasonLabel={t('note')}
          reasonHint={t('noteHint')}
          confirm={t('noteSave')}
          send={(text) => write({ ...about, note: text })}
          onDone={onChanged}
        />
      )}
      {write !== null && note !== null && (
        <TextButton
          size="compact-xs"
          variant="default"
          loading={removing.sending}
          onClick={() => removing.send(write)}
          label={t('noteRemove')}
        />
      )}
      {removing.problemText !== null && <p role="alert">{removing.problemText}</p>}
    </div>
  );
}
