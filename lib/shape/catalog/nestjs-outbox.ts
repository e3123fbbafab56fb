/** Shared by the stores of @nestjs/outbox: leases, times in milliseconds, and a dead-letter table that rows move to. */
import { above, defineShape, dueNow, exact, ms, names, NOW, bySource, refused, stable, writes, namedAsRole } from '../define';
import type { ShapeInput } from '../shape';

/** The columns of a message that a dead letter keeps. */
const messageColumns = {
  ...namedAsRole('id', 'topic', 'attempts', 'payload', 'headers'),
  sequence: 'seq',
  type: 'topic',
  aggregateId: 'key',
  createdAt: ms('created_at'),
  error: 'last_error',
} as const;

/** Roles, states and operations of both stores. Times are by the application's clock, not the database's. */
const nestjsOutbox = {
  origin: '@nestjs/outbox (TypeScript)',
  kind: 'presence',
  columns: {
    ...messageColumns,
    orderingKey: 'key',
    lockedUntil: ms('lease_until'),
    lockedBy: 'lease_owner',
    availableAt: ms('available_at'),
  },
  states: [
    { state: 'processing', label: 'leased', when: { column: 'lease_until', future: true } },
    { state: 'retrying', when: above('attempts', 0) },
    { state: 'pending', when: { always: true } },
  ],
  ordering: { key: 'orderingKey', by: 'sequence', blockedBy: ['pending', 'retrying', 'processing'] },
  operations: {
    retry: [
      { from: ['dead'], refuse: 'limit_unknown' },
      dueNow('retrying', 'available_at', { basis: 'mirrors_library' }),
      dueNow('pending', 'available_at', { warnings: ['sends_ahead_of_schedule'], basis: 'mirrors_library' }),
    ],
    requeue: [
      exact('dead', { attempts: 0, available_at: NOW, lease_owner: null, lease_until: null }, { moveTo: 'main', basis: 'mirrors_library' }),
      stable('retrying', { attempts: 0, available_at: NOW, last_error: null }, { basis: 'inferred' }),
    ],
    release: { refuse: 'claim_lapses' },
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { moveTo: 'dead', set: writes({ failed_at: NOW, reason: 'restored' }) },
} satisfies Partial<ShapeInput>;

/** The columns only a dead letter has. */
const nestjsDeadColumns = { diedAt: ms('failed_at') };

const nestjsDetect = {
  mustHave: names('seq id topic payload headers key created_at available_at attempts last_error history lease_owner lease_until'),
  signature: ['lease_owner', 'history'],
};

/** The outbox of NestJS on PostgreSQL: sent messages are deleted, failed ones move to `dead_letters`. */
export const nestjsOutboxPg = defineShape({
  ...nestjsOutbox,
  key: 'nestjs-outbox-pg',
  label: '@nestjs/outbox (PostgreSQL)',
  engines: ['postgres'],
  table: 'nest_outbox.messages',
  match: { names: ['messages'] },
  dead: { table: 'dead_letters', columns: nestjsDeadColumns },
  detect: { ...nestjsDetect, companions: ['dead_letters', 'inbox', 'migrations'] },
  facts: bySource('nestjs/outbox@0bcece8f', 'rows_go_when_done', 'clock_of_application'),
});

/** The outbox of NestJS on MySQL: as on PostgreSQL, with the schema's name as a prefix of the tables' names. */
export const nestjsOutboxMysql = defineShape({
  ...nestjsOutbox,
  key: 'nestjs-outbox-mysql',
  label: '@nestjs/outbox (MySQL)',
  engines: ['mysql'],
  table: 'nest_outbox_messages',
  match: { pattern: '^(?<prefix>.+)_messages$' },
  dead: { table: '{prefix}_dead_letters', columns: nestjsDeadColumns },
  detect: { ...nestjsDetect, companions: ['{prefix}_dead_letters', '{prefix}_inbox'] },
  facts: bySource('nestjs/outbox@2c239628', 'rows_go_when_done', 'clock_of_application'),
});

/** The dead letters of NestJS' outbox by themselves, if the messages table is not configured. */
export const nestjsOutboxDeadLetters = defineShape({
  key: 'nestjs-outbox-dead-letters',
  label: '@nestjs/outbox dead letters',
  origin: '@nestjs/outbox (TypeScript)',
  engines: ['postgres', 'mysql'],
  family: 'dead_letters',
  kind: 'presence',
  table: 'nest_outbox_dead_letters',
  match: { names: ['dead_letters'], pattern: 'dead_letters$' },
  columns: { ...messageColumns, ...nestjsDeadColumns, error: { anyOf: ['last_error', 'reason'] } },
  states: [{ state: 'dead', label: 'dead letter', when: { always: true } }],
  operations: refused({ retry: 'requeue_from_main', requeue: 'requeue_from_main', release: 'not_claimed' }),
  archive: { from: ['dead'] },
  detect: {
    mustHave: names('id seq topic history reason failed_at attempts last_error'),
    mustNotHave: ['lease_owner'],
    companions: ['messages'],
  },
  facts: bySource('nestjs/outbox@0bcece8f', 'clock_of_application'),
});
