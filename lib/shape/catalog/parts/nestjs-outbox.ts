/** What the stores of @nestjs/outbox share: leases and times in milliseconds, a dead-letter table rows move to. */
import { sampleId, sampleRows } from './sample-rows';
import type { ShapeInput } from '../../shape';

const ms = (column: string) => ({ column, time: 'epoch_ms' as const });

const operations: ShapeInput['operations'] = {
  retry: [
    { from: ['dead'], refuse: 'limit_unknown' },
    {
      from: ['retrying'],
      version: 'stable',
      guard: { column: 'available_at', future: true },
      set: { available_at: { now: true } },
      basis: 'mirrors_library',
    },
    {
      from: ['pending'],
      version: 'stable',
      guard: { column: 'available_at', future: true },
      set: { available_at: { now: true } },
      warnings: ['sends_ahead_of_schedule'],
      basis: 'mirrors_library',
    },
  ],
  requeue: [
    {
      from: ['dead'],
      version: 'exact',
      moveTo: 'main',
      set: { attempts: { value: 0 }, available_at: { now: true }, lease_owner: { value: null }, lease_until: { value: null } },
      basis: 'mirrors_library',
    },
    {
      from: ['retrying'],
      version: 'stable',
      set: { attempts: { value: 0 }, available_at: { now: true }, last_error: { value: null } },
      basis: 'inferred',
    },
  ],
  release: { refuse: 'claim_lapses' },
};

/** Roles, states and operations of both stores. The clocks are those of the application, not of the database. */
export const nestjsOutbox = {
  kind: 'presence',
  columns: {
    id: 'id',
    sequence: 'seq',
    type: 'topic',
    topic: 'topic',
    aggregateId: 'key',
    orderingKey: 'key',
    createdAt: ms('created_at'),
    lockedUntil: ms('lease_until'),
    lockedBy: 'lease_owner',
    availableAt: ms('available_at'),
    attempts: 'attempts',
    error: 'last_error',
    payload: 'payload',
    headers: 'headers',
  },
  states: [
    { state: 'processing', label: 'leased', when: { column: 'lease_until', future: true } },
    { state: 'retrying', when: { column: 'attempts', above: 0 } },
    { state: 'pending', when: { always: true } },
  ],
  claim: { visible: true },
  ordering: { key: 'orderingKey', by: 'sequence', blockedBy: ['pending', 'retrying', 'processing'] },
  operations,
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { moveTo: 'dead', set: { failed_at: { now: true }, reason: { value: 'restored' } } },
} satisfies Partial<ShapeInput>;

/** What a dead letter has beside the columns of a message. */
export const nestjsDeadColumns = { diedAt: ms('failed_at') };

export const nestjsDetect = {
  mustHave: [
    'seq',
    'id',
    'topic',
    'payload',
    'headers',
    'key',
    'created_at',
    'available_at',
    'attempts',
    'last_error',
    'history',
    'lease_owner',
    'lease_until',
  ],
  signature: ['lease_owner', 'history'],
};

/** 2026-01-01T00:00:00Z and a time that does not come, in milliseconds. */
const [START, NEVER] = [1_767_225_600_000, 4_070_908_800_000];

const common = { topic: 'order.created', payload: { order: 1 }, headers: {}, key: null, history: [], last_error: null };

export const nestjsDeadRows = sampleRows({ ...common, created_at: START + 5_000, attempts: 5 }, [
  [
    'dead',
    {
      id: sampleId(5),
      seq: 5,
      key: 'order-1',
      last_error: 'broker away',
      history: [{ attempt: 5 }],
      reason: 'exhausted',
      failed_at: START + 90_000,
    },
    'dead',
  ],
  ['dead', { id: 'not a uuid', seq: 6, payload: null, attempts: 1, reason: 'rejected', failed_at: START + 91_000 }, 'dead'],
]);

export const nestjsRows = [
  ...sampleRows({ ...common, created_at: START + 1_000, available_at: START + 1_000, attempts: 0 }, [
    ['pending', { id: sampleId(1), seq: 1, key: 'order-1' }],
    ['pending', { id: sampleId(2), seq: 2, created_at: START + 2_000, available_at: NEVER }],
    ['retrying', { id: sampleId(3), seq: 3, created_at: START + 3_000, attempts: 2, last_error: 'broker away', available_at: NEVER }],
    ['processing', { id: sampleId(4), seq: 4, created_at: START + 4_000, attempts: 1, lease_owner: 'relay-1', lease_until: NEVER }],
    // A lease that ran out: whoever comes next takes it.
    ['retrying', { id: sampleId(7), seq: 7, created_at: START + 7_000, attempts: 1, lease_owner: 'relay-0', lease_until: START + 60_000 }],
  ]),
  ...nestjsDeadRows,
];
