import { nestjsDeadColumns, nestjsDetect, nestjsOutbox } from './parts/nestjs-outbox';
import { defineShape } from '../define';

/** The outbox of NestJS on MySQL: as on PostgreSQL, the schema's name put before the tables'. */
export const nestjsOutboxMysql = defineShape({
  ...nestjsOutbox,
  key: 'nestjs-outbox-mysql',
  label: '@nestjs/outbox (MySQL)',
  origin: '@nestjs/outbox (TypeScript)',
  engines: ['mysql'],
  table: 'nest_outbox_messages',
  match: { pattern: '^(?<prefix>.+)_messages$' },
  dead: { table: '{prefix}_dead_letters', columns: nestjsDeadColumns },
  detect: { ...nestjsDetect, companions: ['{prefix}_dead_letters', '{prefix}_inbox'] },
  facts: { source: 'nestjs/outbox@2c239628', verified: 'source', warnings: ['rows_go_when_done', 'clock_of_application'] },
});
