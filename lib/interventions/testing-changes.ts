/**
 * What every operation of a built-in shape writes, row by row of its sample, written down by hand: the rows it changes, and the
 * columns it leaves different. What is not here is left as it is. `NOW` is the database's clock in the column's own spelling,
 * `IN_A_DAY` a day later,
 * `MOVED` a row that is in another table and has all its columns.
 */
export const NOW = Symbol('now');
export const MOVED = Symbol('moved');
export const IN_A_DAY = Symbol('in a day');

export type Change = Record<string, string | null | typeof NOW | typeof IN_A_DAY> | typeof MOVED;

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
export const moved = (...ids: (string | number)[]): Record<string, Change> =>
  Object.fromEntries(ids.map((id) => [String(id), MOVED] as const));

const CAP = {
  // Only what is Delayed has a time to bring forward.
  retry: { '2': { ExpiresAt: NOW } },
  requeue: { '6': { Retries: '0', ExpiresAt: null }, '9007199254740993': { Retries: '0' } },
  archive: moved(5, 6, '9007199254740993'),
} satisfies Record<string, Record<string, Change>>;

const GRUELBOX = (nextAttemptTime: string): Record<string, Record<string, Change>> => ({
  retry: { a1: { [nextAttemptTime]: NOW }, a2: { [nextAttemptTime]: NOW }, a3: { [nextAttemptTime]: NOW } },
  requeue: { a5: { attempts: '0', blocked: 'false' }, a6: { attempts: '0', blocked: 'false' } },
  archive: moved('a5', 'a6'),
});

/** By shape, operation and event id. */
export const CHANGES: Record<string, Record<string, Record<string, Change>>> = {
  'axon-dead-letter-jdbc': {},
  'axon-dead-letter-jpa': {},
  'brighter-outbox-mysql': { archive: moved('m-1', 'm-2', 'm-3') },
  'brighter-outbox-pg': { archive: moved('m-1', 'm-2', 'm-3') },
  'cap-published-mysql': CAP,
  'cap-published-pg': CAP,
  'cap-received': CAP,
  'debezium-outbox': {},
  'debezium-quarkus-outbox': {},
  'eventuate-tram-message': {},
  'eventuate-tram-message-dbid': {},
  'gruelbox-txno-outbox-mysql': GRUELBOX('nextAttemptTime'),
  'gruelbox-txno-outbox-pg': GRUELBOX('nextattempttime'),
  'masstransit-inboxstate': {},
  'masstransit-outboxmessage': { archive: moved(1, 2, 3, 4, 5, '9007199254740993') },
  'masstransit-outboxstate': {},
  'namastack-outbox-record': {
    retry: { 'r-1': { next_retry_at: NOW }, 'r-2': { next_retry_at: NOW }, 'r-5': { next_retry_at: NOW } },
    requeue: {
      'r-4': { status: 'NEW', failure_count: '0', failure_reason: null, next_retry_at: NOW },
      'r-6': { status: 'NEW', failure_count: '0', next_retry_at: NOW },
    },
    archive: moved('r-4', 'r-6'),
  },
  'nservicebus-outboxdata': {},
  'opensleigh-outbox': {
    // m-5 was locked too lately, and when m-6 was is not known.
    release: { 'm-4': { LockId: null, LockTime: null } },
    archive: moved('m-1', 'm-2', 'm-3'),
  },
  'rebus-outbox-pg': { archive: moved(1, 2, 3, 4, 5, '9007199254740993') },
  'silverback-outbox-ef': { archive: moved(1, 2, 3, 4, 5, '9007199254740993') },
  'silverback-outbox-pg': { archive: moved(1, 2, 3, 4, 5, 2_147_483_647) },
  'spring-modulith-v1': {},
  'spring-modulith-v2': {
    release: { [uuid(1)]: { status: 'FAILED' }, [uuid(2)]: { status: 'FAILED' }, [uuid(3)]: { status: 'FAILED' } },
  },
  'wolverine-dead-letters': {
    requeue: {
      [uuid(1)]: { replayable: 'true' },
      [uuid(2)]: { replayable: 'true' },
      [uuid(3)]: { replayable: 'true' },
      [uuid(6)]: { replayable: 'true' },
    },
    archive: moved(uuid(1), uuid(2), uuid(3), uuid(6)),
  },
  'wolverine-incoming': {
    retry: { [uuid(2)]: { execution_time: NOW } },
    // Node 1 is alive: what it owns is its own.
    release: { [uuid(4)]: { owner_id: '0' } },
  },
  'wolverine-outgoing': { release: { [uuid(4)]: { owner_id: '0' } }, archive: moved(uuid(1), uuid(2), uuid(3), uuid(6)) },
};
