import { PlanScreen } from '@/components/runs/plan-screen';
import { definePage, titled } from '@/lib/server/page';
import { readPlanSnapshot } from '@/lib/server/reads/plans';
import { approvePlan, planSnapshot, refusePlan, startRun } from '../../actions-runs';

export const generateMetadata = titled((words) => words('plans.one'));

export default definePage({
  id: 'page.plan',
  permission: 'outbox:read',
  render: async (context, { params: { plan = '' } }) => (
    <PlanScreen
      initial={await readPlanSnapshot(context, plan)}
      load={planSnapshot}
      decisions={{ start: startRun, approve: approvePlan, refuse: refusePlan }}
    />
  ),
});
