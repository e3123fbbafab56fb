/** What the stores of @nestjs/outbox share: leases and times in milliseconds, a dead-letter table rows move to. */
import type { ShapeInput } from '../../shape';
import { NOW, above, exact, ms, names, stable, writes } from '../../define';

const operations: ShapeInput['operations'] = {
  retry: [
    { from: ['dead'], refuse: 'limit_unknown' },
    stable('retrying', { available_at: NOW }, { guard: { column: 'available_at', future: true }, basis: 'mirrors_library' }),
    stable(
      'pending',
      { available_at: NOW },
      { guard: { column: 'available_at', future: true }, warnings: ['sends_ahead_of_schedule'], basis: 'mirrors_library' },
    ),
  ],
  requeue: [
    exact('dead', { attempts: 0, available_at: NOW, lease_owner: null, lease_until: null }, { moveTo: 'main', basis: 'mirrors_library' }),
    stable('retrying', { attempts: 0, available_at: NOW, last_error: null }, { basis: 'inferred' }),
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
    { state: 'retrying', when: above('attempts', 0) },
    { state: 'pending', when: { always: true } },
  ],
  claim: { visible: true },
  ordering: { key: 'orderingKey', by: 'sequence', blockedBy: ['pending', 'retrying', 'processing'] },
  operations,
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { moveTo: 'dead', set: writes({ failed_at: NOW, reason: 'restored' }) },
} satisfies Partial<ShapeInput>;

/** What a dead letter has beside the columns of a message. */
export const nestjsDeadColumns = { diedAt: ms('failed_at') };

export const nestjsDetect = {
  mustHave: names('seq id topic payload headers key created_at available_at attempts last_error history lease_owner lease_until'),
  signature: ['lease_owner', 'history'],
};
