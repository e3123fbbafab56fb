import { pgBoss } from './parts/pg-boss';
import { defineShape, names } from '../define';

/** Job queue in PostgreSQL for Node, from version 11: finished jobs stay until they are old enough to be deleted. */
export const pgBossV12 = defineShape({
  ...pgBoss,
  key: 'pg-boss-v12',
  label: 'pg-boss jobs, from version 11',
  origin: 'pg-boss 11 and 12 (TypeScript)',
  match: { names: ['job'] },
  detect: {
    mustHave: names(`
      id name data state retry_limit retry_count start_after started_on singleton_key expire_seconds deletion_seconds
      keep_until output dead_letter
    `),
    mustNotHave: ['expire_in'],
    signature: ['singleton_key', 'retry_limit'],
    companions: ['queue', 'version', 'schedule', 'job_common'],
  },
  facts: {
    source: 'npm pg-boss@12.18.2',
    verified: 'ran',
    warnings: ['dead_letters_twice', 'unique_job_may_refuse', 'rows_purged_by_library', 'skews_counters'],
  },
});
