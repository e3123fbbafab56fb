import { oban, obanRows } from './parts/oban';
import { defineShape } from '../shape';

/** Job queue for Elixir on MySQL: as on PostgreSQL, lists kept as JSON. */
export const obanMysql = defineShape({
  ...oban,
  key: 'oban-mysql',
  label: 'Oban jobs (MySQL)',
  origin: 'Oban (Elixir)',
  engines: ['mysql'],
  facts: { source: 'oban-bg/oban@2939e313', verified: 'source', warnings: ['rows_purged_by_library'] },
  sample: {
    ddl: {
      mysql: [
        `CREATE TABLE oban_jobs (
           id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
           state enum('available', 'suspended', 'scheduled', 'executing', 'retryable', 'completed', 'discarded', 'cancelled') NOT NULL DEFAULT 'available',
           queue varchar(255) NOT NULL DEFAULT 'default', worker varchar(255) NOT NULL, args json NOT NULL, meta json, tags json, attempted_by json,
           errors json NOT NULL, attempt int NOT NULL DEFAULT 0, max_attempts int NOT NULL DEFAULT 20, priority int NOT NULL DEFAULT 0,
           inserted_at datetime(6) NOT NULL, scheduled_at datetime(6) NOT NULL, attempted_at datetime(6), completed_at datetime(6),
           discarded_at datetime(6), cancelled_at datetime(6), CHECK (attempt BETWEEN 0 AND max_attempts),
           KEY (state, queue, priority, scheduled_at, id))`,
      ],
    },
    rows: obanRows(JSON.stringify),
  },
});
