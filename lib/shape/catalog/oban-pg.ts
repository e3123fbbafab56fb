import { oban, obanRows } from './parts/oban';
import { defineShape } from '../shape';

const list = (values: (string | Record<string, unknown>)[]): string =>
  `{${values.map((value) => JSON.stringify(typeof value === 'string' ? value : JSON.stringify(value))).join(',')}}`;

/** Job queue for Elixir on PostgreSQL: seven states in an enumeration, times zone-less and UTC. */
export const obanPg = defineShape({
  ...oban,
  key: 'oban-pg',
  label: 'Oban jobs (PostgreSQL)',
  origin: 'Oban (Elixir)',
  engines: ['postgres'],
  facts: { source: 'oban-bg/oban@2939e313', verified: 'source', warnings: ['rows_purged_by_library'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TYPE oban_job_state AS ENUM ('available', 'suspended', 'scheduled', 'executing', 'retryable', 'completed', 'discarded', 'cancelled')`,
        `CREATE TABLE oban_jobs (
           id bigserial PRIMARY KEY, state oban_job_state NOT NULL DEFAULT 'available', queue text NOT NULL DEFAULT 'default', worker text NOT NULL,
           args jsonb NOT NULL DEFAULT '{}', meta jsonb DEFAULT '{}', tags text[] DEFAULT '{}', errors jsonb[] NOT NULL DEFAULT '{}',
           attempt int NOT NULL DEFAULT 0, max_attempts int NOT NULL DEFAULT 20, priority int NOT NULL DEFAULT 0,
           inserted_at timestamp NOT NULL DEFAULT timezone('UTC', now()), scheduled_at timestamp NOT NULL DEFAULT timezone('UTC', now()),
           attempted_at timestamp, attempted_by text[], completed_at timestamp, discarded_at timestamp, cancelled_at timestamp,
           CONSTRAINT attempt_range CHECK (attempt BETWEEN 0 AND max_attempts), CONSTRAINT positive_max_attempts CHECK (max_attempts > 0))`,
        'CREATE INDEX ON oban_jobs (state, queue, priority, scheduled_at, id)',
      ],
    },
    rows: obanRows(list),
  },
});
