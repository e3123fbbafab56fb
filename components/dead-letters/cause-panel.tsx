import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { CauseNote, CauseSample, DeadLetterGroup } from '@/lib/shared/dead-letter-groups';
import type { ActionResult } from '@/lib/shared/problems';
import { visibleText } from '@/lib/shared/text/visible-text';
import { RelativeTime } from '../figures/time';
import { Link } from '../frame/go';
import { ReasonPopover } from '../frame/reason-popover';
import { useChange } from '../frame/use-change';
import { eventHref } from '../hrefs';
import classes from './causes.module.css';

/** How more is learnt and said of a cause. */
export interface CauseDetails {
  samples: (input: { outbox: string; events: string[] }) => Promise<ActionResult<CauseSample[]>>;
  /** An empty note takes it off; null where the viewer may write none. */
  note: ((input: { outbox: string; cause: string; note: string }) => Promise<ActionResult<{ note: CauseNote | null }>>) | null;
  /** Whether the table of the outbox keeps errors. */
  keepsError: (outbox: string) => boolean;
  onChanged: () => Promise<void>;
}

interface CausePanelProps {
  group: DeadLetterGroup;
  details: CauseDetails;
  /** What can be done about the cause, and what was tried. */
  actions: ReactNode;
}

/** Below a cause's line: when it was seen, why its events are together, and what operators wrote about it. */
export function CausePanel({ group, details, actions }: CausePanelProps) {
  const t = useTranslations('deadLetters.details');
  const { outbox, firstSeenAt, lastSeenAt, seen, retrying, newSince } = group;
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
      <Samples group={group} read={details.samples} shown={keepsError} />
      <Noted group={group} details={details} />
      {actions}
    </div>
  );
}

function Samples({
  group: { outbox, id, samples },
  read,
  shown,
}: {
  group: DeadLetterGroup;
  read: CauseDetails['samples'];
  shown: boolean;
}) {
  const t = useTranslations('deadLetters.details');
  const words = useTranslations('deadLetters');
  const { data, isError } = useQuery({
    queryKey: ['cause', outbox, id, samples],
    queryFn: () => read({ outbox, events: samples }),
  });
  if (isError || data?.ok === false) return <p role="alert">{t('unread')}</p>;
  if (data === undefined) return null;
  if (data.value.length === 0) return <p>{t('gone')}</p>;
  return (
    <ul className={classes.samples}>
      {data.value.map((event) => (
        <li key={event.id}>
          <Link href={eventHref(outbox, event.id)} prefetch={false}>
            <bdi>{visibleText(event.id)}</bdi>
          </Link>
          {shown && <bdi>{event.error === null ? words('noError') : visibleText(event.error)}</bdi>}
        </li>
      ))}
    </ul>
  );
}

function Noted({ group: { outbox, id, note }, details: { note: write, onChanged } }: Pick<CausePanelProps, 'group' | 'details'>) {
  const t = useTranslations('deadLetters.details');
  const problems = useTranslations('problems');
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
        <Button size="compact-xs" variant="default" loading={removing.sending} onClick={() => removing.send(write)}>
          {t('noteRemove')}
        </Button>
      )}
      {removing.problem !== null && <p role="alert">{problems(removing.problem.code)}</p>}
    </div>
  );
}
