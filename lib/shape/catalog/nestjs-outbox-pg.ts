import { nestjsDeadColumns, nestjsDetect, nestjsOutbox } from './parts/nestjs-outbox';
import { defineShape } from '../define';

/** The outbox of NestJS on PostgreSQL: what is sent is deleted, what is given up moves to `dead_letters`. */
export const nestjsOutboxPg = defineShape({
  ...nestjsOutbox,
  key: 'nestjs-outbox-pg',
  label: '@nestjs/outbox (PostgreSQL)',
  origin: '@nestjs/outbox (TypeScript)',
  engines: ['postgres'],
  table: 'nest_outbox.messages',
  match: { names: ['messages'] },
  dead: { table: 'dead_letters', columns: nestjsDeadColumns },
  detect: { ...nestjsDetect, companions: ['dead_letters', 'inbox', 'migrations'] },
  facts: { source: 'nestjs/outbox@0bcece8f', verified: 'source', warnings: ['rows_go_when_done', 'clock_of_application'] },
});
