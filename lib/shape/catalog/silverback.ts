/** Shared by both stores of Silverback's outbox: one worker sends in order and deletes sent messages. */
import { defineShape, names, bySource, refused } from '../define';
import type { ShapeInput } from '../shape';

const SILVERBACK = {
  origin: 'Silverback (C#)',
  kind: 'presence',
  states: [{ state: 'pending', when: { always: true } }],
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'claim_is_a_lock' }),
  // Resolves a message that cannot be sent: with enforced order, everything waits behind it.
  archive: { from: ['pending'], warnings: ['relay_may_be_sending'] },
  payload: { encoding: 'bytes' },
  facts: bySource('BEagle1984/silverback@471f4cfa', 'head_of_line'),
} satisfies Partial<ShapeInput>;

/** Silverback's outbox through Entity Framework; the table is named after the application's DbSet. */
export const silverbackOutboxEf = defineShape({
  ...SILVERBACK,
  key: 'silverback-outbox-ef',
  label: 'Silverback outbox (Entity Framework)',
  engines: ['postgres', 'mysql'],
  table: 'SilverbackOutboxMessage',
  match: { names: ['SilverbackOutboxMessages', 'outbox'] },
  columns: { id: 'Id', sequence: 'Id', topic: 'EndpointName', createdAt: 'Created', payload: 'Content', headers: 'Headers' },
  detect: {
    mustHave: names('Id Content Headers EndpointName DynamicEndpoint Created'),
    signature: ['EndpointName', 'DynamicEndpoint'],
    underscoreless: true,
  },
});

/** Silverback's outbox in its own PostgreSQL storage. */
export const silverbackOutboxPg = defineShape({
  ...SILVERBACK,
  key: 'silverback-outbox-pg',
  label: 'Silverback outbox (PostgreSQL)',
  engines: ['postgres'],
  table: 'SilverbackOutbox',
  columns: { id: 'id', sequence: 'id', topic: 'endpointname', createdAt: 'created', payload: 'content', headers: 'headers' },
  detect: {
    mustHave: names('id content headers endpointname created'),
    mustNotHave: ['dynamicendpoint'],
    types: { content: 'bytea' },
  },
});
