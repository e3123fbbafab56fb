import { sayOfPlan } from '@/lib/server/reads/plans';
import { defineRoute } from '@/lib/server/route';
import { nothing, ofPlan, planAnswer } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.plan-approve',
  permission: 'plan:approve',
  params: ofPlan,
  query: nothing,
  body: planAnswer,
  attempted: ({ body }) => ({ operation: 'approve', reason: body.reason }),
  run: (context, { params, body }) => sayOfPlan(context, params.plan, 'approve', body),
});
