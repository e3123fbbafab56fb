import { defineShape, is, ms, names, bySource, refused, namedAsRole } from '../define';
import type { ShapeInput } from '../shape';

const EVENTUATE = {
  origin: 'Eventuate Tram (Java)',
  engines: ['postgres', 'mysql'],
  table: 'eventuate.message',
  match: { pattern: '^message[0-9]*$', schema: 'eventuate' },
  kind: 'flag',
  columns: {
    ...namedAsRole('id', 'payload', 'headers'),
    type: { column: 'headers', path: ['event-type'] },
    topic: 'destination',
    aggregateType: { column: 'headers', path: ['event-aggregate-type'] },
    aggregateId: { column: 'headers', path: ['event-aggregate-id'] },
    createdAt: ms('creation_time'),
  },
  // Rows the library writes for itself, which are no events.
  rows: { not: is('destination', 'CDC-IGNORED') },
  states: [
    { state: 'published', when: is('published', 1) },
    { state: 'pending', when: { always: true } },
  ],
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'not_claimed' }),
  noArchive: 'nothing_tells_it_is_out',
  payload: { encoding: 'json' },
  facts: bySource('eventuate-foundation/eventuate-common@6de8d54d', 'published_by_polling_only'),
} satisfies Partial<ShapeInput>;

/** Eventuate Tram's messages with ids of the application: its CDC service reads the log, or polls and marks them as published. */
export const eventuateTramMessage = defineShape({
  ...EVENTUATE,
  key: 'eventuate-tram-message',
  label: 'Eventuate Tram messages',
  detect: {
    mustHave: names('id destination headers payload published creation_time'),
    mustNotHave: ['dbid'],
    types: { creation_time: 'bigint' },
    companions: ['received_messages', 'offset_store', 'cdc_monitoring'],
  },
});

/** Eventuate Tram's messages with ids of the database; the application's own id may be missing. */
export const eventuateTramMessageDbid = defineShape({
  ...EVENTUATE,
  key: 'eventuate-tram-message-dbid',
  label: 'Eventuate Tram messages (ids of the database)',
  columns: { ...EVENTUATE.columns, id: 'dbid', sequence: 'dbid', dedupKey: 'id' },
  detect: {
    mustHave: names('dbid id destination headers payload published creation_time'),
    companions: ['received_messages'],
  },
});
