import { oban } from './parts/oban';
import { defineShape } from '../define';

/** Job queue for Elixir on MySQL: as on PostgreSQL, lists kept as JSON. */
export const obanMysql = defineShape({
  ...oban,
  key: 'oban-mysql',
  label: 'Oban jobs (MySQL)',
  origin: 'Oban (Elixir)',
  engines: ['mysql'],
  facts: { source: 'oban-bg/oban@2939e313', verified: 'source', warnings: ['rows_purged_by_library'] },
});
