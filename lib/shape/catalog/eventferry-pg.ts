import { eventferry, eventferryOperations } from './parts/eventferry';
import { defineShape } from '../define';

/** Outbox for Node on PostgreSQL: status as a number, heads of aggregates claimed. */
export const eventferryPg = defineShape({
  ...eventferry,
  key: 'eventferry-pg',
  label: 'eventferry (PostgreSQL)',
  origin: 'eventferry (TypeScript)',
  engines: ['postgres'],
  operations: eventferryOperations({}),
  facts: { source: 'SametGoktepe/eventferry@cd65266f', verified: 'source', warnings: ['dead_stop_blocking', 'no_error_kept'] },
});
