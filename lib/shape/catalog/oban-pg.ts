import { oban } from './parts/oban';
import { defineShape } from '../define';

/** Job queue for Elixir on PostgreSQL: seven states in an enumeration, times zone-less and UTC. */
export const obanPg = defineShape({
  ...oban,
  key: 'oban-pg',
  label: 'Oban jobs (PostgreSQL)',
  origin: 'Oban (Elixir)',
  engines: ['postgres'],
  facts: { source: 'oban-bg/oban@2939e313', verified: 'source', warnings: ['rows_purged_by_library'] },
});
