import { PlansScreen } from '@/components/runs/plans-screen';
import { definePage, titled } from '@/lib/server/page';
import { readApprovals } from '@/lib/server/reads/plans';
import { approvalsSnapshot } from '../actions-runs';

export const generateMetadata = titled((words) => words('plans.approvals.title'));

export default definePage({
  id: 'page.approvals',
  permission: 'outbox:read',
  render: async (context) => <PlansScreen initial={await readApprovals(context)} load={approvalsSnapshot} approvals />,
});
