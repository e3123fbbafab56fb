/** Shared by gruelbox's transaction-outbox on both engines: method calls, stored with their arguments. */
import { above, defineShape, exact, is, names, NOW, byRunning, bySource, namedAsRole } from '../define';
import type { ShapeInput } from '../shape';

const ORDERED = { not: is('topic', '*') };
const PROCESSED = { column: 'processed', isTrue: true };

// nextAttemptTime: when to try again; for processed rows when to purge.
// The relay's own update and delete compare `version`: changing it makes a completed call run again.
const GRUELBOX = {
  origin: 'gruelbox transaction-outbox (Java)',
  kind: 'flag',
  columns: {
    ...namedAsRole('id', 'topic', 'attempts', 'version'),
    sequence: 'seq',
    type: { column: 'invocation', path: ['m'] },
    aggregateType: { column: 'invocation', path: ['c'] },
    orderingKey: { column: 'topic', when: ORDERED },
    publishedAt: { column: 'lastAttemptTime', when: PROCESSED },
    attemptedAt: 'lastAttemptTime',
    availableAt: { column: 'nextAttemptTime', when: { not: PROCESSED } },
    dedupKey: 'uniqueRequestId',
    payload: 'invocation',
  },
  states: [
    { state: 'dead', label: 'blocked', when: { column: 'blocked', isTrue: true } },
    { state: 'published', label: 'processed', when: PROCESSED },
    { state: 'retrying', when: above('attempts', 0) },
    { state: 'pending', when: { always: true } },
  ],
  parameters: { maxAttempts: 5 },
  ordering: { key: 'orderingKey', by: 'sequence', blockedBy: ['pending', 'retrying'] },
  lock: { never: 'version' },
  archive: { from: ['dead'], warnings: ['settled_key_may_return'] },
  payload: { encoding: 'json' },
} satisfies Partial<ShapeInput>;

/** The operations; `unblocked` is the engine's value of `blocked` for a row that is not. */
function gruelboxOperations(unblocked: boolean | string): NonNullable<ShapeInput['operations']> {
  return {
    retry: [
      exact(['pending', 'retrying'], { nextAttemptTime: NOW }, { basis: 'inferred' }),
      { from: ['dead'], refuse: 'retry_starts_over' },
    ],
    requeue: [exact('dead', { attempts: 0, blocked: unblocked }, { guard: { not: PROCESSED }, basis: 'official' })],
    release: { refuse: 'claim_lapses' },
  };
}

const GRUELBOX_WARNINGS = ['failing_topic_never_dies', 'settled_key_may_return', 'local_time'];

/** gruelbox transaction-outbox on MySQL, where its sixth migration turns the flag `blocked` into a text. */
export const gruelboxTxnoOutboxMysql = defineShape({
  ...GRUELBOX,
  key: 'gruelbox-txno-outbox-mysql',
  label: 'transaction-outbox (MySQL)',
  engines: ['mysql'],
  table: 'TXNO_OUTBOX',
  operations: gruelboxOperations('0'),
  detect: {
    mustHave: names('id invocation nextAttemptTime attempts blocked processed version uniqueRequestId'),
    signature: ['uniqueRequestId', 'invocation'],
    companions: ['TXNO_VERSION', 'TXNO_SEQUENCE'],
  },
  facts: byRunning('gruelbox/transaction-outbox@d6196507', ...GRUELBOX_WARNINGS),
});

/** gruelbox transaction-outbox on PostgreSQL: names folded to lower case, flags that are booleans. */
export const gruelboxTxnoOutboxPg = defineShape({
  ...GRUELBOX,
  key: 'gruelbox-txno-outbox-pg',
  label: 'transaction-outbox (PostgreSQL)',
  engines: ['postgres'],
  table: 'txno_outbox',
  operations: gruelboxOperations(false),
  detect: {
    mustHave: names('id invocation nextattempttime attempts blocked processed version uniquerequestid'),
    signature: ['uniquerequestid', 'invocation'],
    types: { blocked: 'boolean' },
    companions: ['txno_version', 'txno_sequence'],
  },
  facts: bySource('gruelbox/transaction-outbox@d6196507', ...GRUELBOX_WARNINGS),
});
