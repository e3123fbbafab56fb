import { eventferry, eventferryOperations } from './parts/eventferry';
import { defineShape } from '../define';

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
});
