import { nestjsDeadColumns, nestjsDetect, nestjsOutbox, nestjsRows } from './parts/nestjs-outbox';
import { defineShape } from '../shape';

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
  sample: {
    ddl: {
      mysql: [
        `CREATE TABLE nest_outbox_messages (
           seq bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, id varchar(255) COLLATE utf8mb4_bin NOT NULL UNIQUE,
           topic varchar(255) COLLATE utf8mb4_bin NOT NULL, payload json, headers json NOT NULL, \`key\` varchar(255) COLLATE utf8mb4_bin,
           created_at bigint NOT NULL, available_at bigint NOT NULL, attempts int NOT NULL DEFAULT 0, last_error mediumtext,
           history json NOT NULL, lease_owner varchar(255), lease_until bigint)`,
        `CREATE TABLE nest_outbox_dead_letters (
           id varchar(255) COLLATE utf8mb4_bin PRIMARY KEY, seq bigint NOT NULL, topic varchar(255) COLLATE utf8mb4_bin NOT NULL, payload json,
           headers json NOT NULL, \`key\` varchar(255) COLLATE utf8mb4_bin, created_at bigint NOT NULL, attempts int NOT NULL, last_error mediumtext,
           history json NOT NULL, reason text NOT NULL, failed_at bigint NOT NULL)`,
      ],
    },
    rows: nestjsRows,
  },
});
