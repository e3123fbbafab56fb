/** What Watermill's tables have in common: the messages of one topic, which the name of the table says. */
import type { ShapeInput } from '../../shape';

export const WATERMILL = {
  origin: 'watermill-sql (Go)',
  match: { pattern: '^watermill_(?!offsets_)(?<topic>.+)$' },
  columns: {
    id: 'offset',
    sequence: 'offset',
    type: { captured: 'topic' },
    topic: { captured: 'topic' },
    createdAt: 'created_at',
    dedupKey: 'uuid',
    payload: 'payload',
    headers: 'metadata',
  },
} satisfies Partial<ShapeInput>;

/** A topic in a table that is only ever added to; each consumer group keeps how far it has come. */
export const WATERMILL_TOPIC = {
  ...WATERMILL,
  kind: 'cursor',
  table: 'watermill_orders',
  companions: { offsets: { table: 'watermill_offsets_{topic}', purpose: 'offsets' } },
  parameters: { extra: { group: { default: '*', unit: 'text', what: 'Consumer group whose progress counts; * for all of them' } } },
  noArchive: 'place_is_passed',
} satisfies Partial<ShapeInput>;
