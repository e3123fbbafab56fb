/** What Debezium's outbox tables have in common: a connector reads inserted rows from the log, so no row says what is out. */
import type { ShapeInput } from '../../shape';
import { refused } from '../../define';

export const DEBEZIUM = {
  engines: ['postgres', 'mysql'],
  kind: 'external',
  columns: {
    id: 'id',
    type: 'type',
    aggregateType: 'aggregatetype',
    aggregateId: 'aggregateid',
    createdAt: { column: 'timestamp', optional: true },
    traceId: { column: 'tracingspancontext', optional: true },
    payload: 'payload',
  },
  states: [],
  parameters: { extra: { slot: { default: '*', unit: 'text', what: 'slot.name of the connector; * for any of the database' } } },
  operations: refused({ retry: 'connector_reads_inserts_only', requeue: 'no_dead_letters', release: 'not_claimed' }),
  noArchive: 'nothing_tells_it_is_out',
} satisfies Partial<ShapeInput>;

export const DEBEZIUM_WARNINGS = ['backlog_is_in_the_log', 'empty_table_says_nothing'];
