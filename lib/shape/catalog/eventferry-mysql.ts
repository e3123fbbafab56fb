import { eventferry, eventferryOperations, eventferryRows } from './parts/eventferry';
import { defineShape } from '../shape';

/** Outbox for Node on MySQL: status as a number; rows are polled, or read from the binary log. */
export const eventferryMysql = defineShape({
  ...eventferry,
  key: 'eventferry-mysql',
  label: 'eventferry (MySQL)',
  origin: 'eventferry (TypeScript)',
  engines: ['mysql'],
  parameters: {
    ...eventferry.parameters,
    extra: {
      ...eventferry.parameters.extra,
      relay: { default: 'unknown', unit: 'text', what: 'How rows are read: polling or binlog' },
    },
  },
  operations: eventferryOperations({ needs: { parameter: 'relay', equals: 'polling' } }),
  facts: {
    source: 'npm @eventferry/mysql@3.3.3',
    verified: 'source',
    warnings: ['dead_stop_blocking', 'updates_unseen_by_replication', 'no_error_kept'],
  },
  sample: {
    ddl: {
      mysql: [
        `CREATE TABLE outbox (
           id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, message_id char(36) NOT NULL UNIQUE, aggregate_type varchar(255) NOT NULL,
           aggregate_id varchar(255) NOT NULL, topic varchar(255) NOT NULL, \`key\` text, payload json NOT NULL, headers json NOT NULL,
           trace_id varchar(64), status tinyint NOT NULL DEFAULT 0, attempts int NOT NULL DEFAULT 0, next_retry_at datetime(3),
           claimed_at datetime(3), created_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), processed_at datetime(3), KEY (status, id))`,
      ],
    },
    rows: eventferryRows,
  },
});
