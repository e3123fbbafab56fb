import { PlansScreen } from '@/components/runs/plans-screen';
import { definePage, titled } from '@/lib/server/page';
import { readPlansSnapshot } from '@/lib/server/reads/plans';
import { plansSnapshot } from '../actions-runs';

export const generateMetadata = titled((words) => words('plans.title'));

export default definePage({
  id: 'page.plans',
  permission: 'outbox:read',
  render: async (context) => <PlansScreen initial={await readPlansSnapshot(context)} load={plansSnapshot} />,
});
