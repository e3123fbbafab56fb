import { pgBoss } from './parts/pg-boss';
import { defineShape, names } from '../define';

/** Job queue in PostgreSQL for Node, up to version 10: finished jobs move to a table of their own. */
export const pgBossV10 = defineShape({
  ...pgBoss,
  key: 'pg-boss-v10',
  label: 'pg-boss jobs, up to version 10',
  origin: 'pg-boss 10 (TypeScript)',
  match: { names: ['job'] },
  companions: { finished: { table: 'archive', on: { name: 'name', id: 'id' }, purpose: 'archive', optional: true } },
  detect: {
    mustHave: names(`
      id name data state retry_limit retry_count start_after started_on singleton_key expire_in keep_until output
      dead_letter
    `),
    mustNotHave: ['expire_seconds', 'archived_on'],
    signature: ['singleton_key', 'retry_limit'],
    companions: ['archive', 'queue', 'version', 'schedule'],
  },
  facts: {
    source: 'npm pg-boss@10.4.2',
    verified: 'ran',
    warnings: ['dead_letters_twice', 'unique_job_may_refuse', 'rows_purged_by_library'],
  },
});
