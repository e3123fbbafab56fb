/** Shared by the tables of DotNetCore.CAP: one layout for sent and for received messages. */
import { atLimit, byWord, defineShape, exact, is, names, NOW, bySource } from '../define';
import type { ShapeInput } from '../shape';

const REWRITTEN = ['whole_row_is_rewritten', 'other_versions_are_left'];
const AHEAD = ['sends_ahead_of_schedule'];
const SCHEDULED_LATER = { column: 'StatusName', in: ['Delayed', 'Queued'] };

/** ExpiresAt: when to send (Delayed, Queued), when to purge (Succeeded, Failed), unused (Scheduled). Times are the application's local. */
const CAP = {
  origin: 'DotNetCore.CAP (C#)',
  kind: 'status',
  attemptsCount: 'failures',
  columns: {
    id: 'Id',
    type: 'Name',
    topic: 'Name',
    createdAt: 'Added',
    publishedAt: { column: 'ExpiresAt', minus: { parameter: 'succeededKeptFor' }, when: is('StatusName', 'Succeeded') },
    availableAt: { column: 'ExpiresAt', when: SCHEDULED_LATER },
    attempts: 'Retries',
    error: { column: 'Content', path: ['Headers', 'cap-exception'] },
    payload: 'Content',
    headers: { column: 'Content', path: ['Headers'] },
  },
  states: [
    { state: 'dead', label: 'Failed for good', when: { all: [is('StatusName', 'Failed'), atLimit('Retries')] } },
    ...byWord('StatusName', { Failed: 'retrying', Succeeded: 'published', Queued: 'processing', Delayed: 'pending', Scheduled: 'pending' }),
  ],
  parameters: {
    maxAttempts: 50,
    extra: { succeededKeptFor: { default: 86_400, unit: 's', what: 'SucceedMessageExpiredAfter' } },
  },
  operations: {
    retry: [
      // Only Delayed rows wait for a time; the library takes all others by itself.
      exact('pending', { ExpiresAt: NOW }, { guard: is('StatusName', 'Delayed'), warnings: AHEAD, basis: 'mirrors_library' }),
      { from: ['retrying'], refuse: 'relay_retries_at_once' },
      { from: ['dead'], refuse: 'retry_starts_over' },
    ],
    // Stays Failed, which the retry processor selects. Without ExpiresAt the collector does not purge it meanwhile.
    requeue: [exact('dead', { Retries: 0, ExpiresAt: null }, { warnings: REWRITTEN, basis: 'inferred' })],
    release: { refuse: 'relay_takes_back' },
  },
  archive: { from: ['dead', 'retrying'], warnings: ['relay_may_be_sending'] },
  payload: { encoding: 'json' },
  facts: bySource('dotnetcore/CAP@e52b8508', ...REWRITTEN, 'local_time'),
} satisfies Partial<ShapeInput>;

const SIGNATURE = ['StatusName', 'ExpiresAt'];
const SENT = {
  signature: SIGNATURE,
  mustHave: names('Id Version Name Content Retries Added ExpiresAt StatusName'),
  mustNotHave: ['Group'],
};

/** Messages sent through DotNetCore.CAP, on MySQL: the table's name contains a dot. */
export const capPublishedMysql = defineShape({
  ...CAP,
  key: 'cap-published-mysql',
  label: 'CAP published messages (MySQL)',
  engines: ['mysql'],
  table: { table: 'cap.published' },
  match: { names: ['cap.published'], pattern: '\\.published$' },
  detect: { ...SENT, companions: ['cap.received'] },
});

/** Messages sent through DotNetCore.CAP, on PostgreSQL: sent from memory after the commit, from this table if that failed. */
export const capPublishedPg = defineShape({
  ...CAP,
  key: 'cap-published-pg',
  label: 'CAP published messages (PostgreSQL)',
  engines: ['postgres'],
  table: 'cap.published',
  match: { names: ['published'] },
  detect: { ...SENT, companions: ['received'] },
});

/** Messages received through DotNetCore.CAP, per consumer group: the layout of sent messages, plus the group. */
export const capReceived = defineShape({
  ...CAP,
  key: 'cap-received',
  label: 'CAP received messages',
  engines: ['postgres', 'mysql'],
  table: 'cap.received',
  match: { names: ['received', 'cap.received'], pattern: '\\.received$' },
  family: 'inbox',
  // A received message goes to a consumer group.
  columns: { ...CAP.columns, topic: 'Group' },
  detect: {
    signature: SIGNATURE,
    mustHave: names('Id Version Name Group Content Retries Added ExpiresAt StatusName'),
    companions: ['published'],
  },
});
