import { above, defineShape, is, names, byPart, refused, namedAsRole } from '../define';
import type { WrittenCondition } from '../shape';

const delivery = (when: WrittenCondition) => ({ exists: { companion: 'deliveries', when } });

/** Outbox for Rust: one delivery per consumer in its own table; a row's state follows from its deliveries. */
export const rustPuertoOutbox = defineShape({
  key: 'rust-puerto-outbox',
  label: 'puerto outbox',
  origin: 'puerto-sqlx (Rust)',
  engines: ['postgres'],
  kind: 'child',
  table: 'outbox',
  columns: {
    ...namedAsRole('id', 'aggregateType', 'aggregateId', 'publishedAt', 'payload', 'headers'),
    sequence: 'seq',
    type: 'event_type',
    createdAt: 'occurred_at',
  },
  companions: { deliveries: { table: 'event_deliveries', on: { event_id: 'id' }, purpose: 'children' } },
  states: [
    { state: 'dead', label: 'dead', when: delivery(is('status', 'dead')) },
    { state: 'published', label: 'published', when: { column: 'published_at', isNull: false } },
    { state: 'retrying', label: 'pending', when: delivery({ all: [is('status', 'pending'), above('attempts', 0)] }) },
    { state: 'pending', label: 'pending', when: { always: true } },
  ],
  operations: refused({ retry: 'state_per_consumer', requeue: 'state_per_consumer', release: 'not_claimed' }),
  noArchive: 'state_per_consumer',
  detect: {
    mustHave: names('seq aggregate_type aggregate_id event_type schema_version occurred_at published_at'),
    companions: ['event_deliveries', 'dead_letters'],
  },
  facts: byPart('crates.io puerto-sqlx', 'one_state_per_reader', 'library_partly_read'),
});
