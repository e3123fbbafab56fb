import { sayOfPlan } from '@/lib/server/reads/plans';
import { defineRoute } from '@/lib/server/route';
import { nothing, ofPlan, planAnswer } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.plan-refuse',
  permission: 'plan:approve',
  params: ofPlan,
  query: nothing,
  body: planAnswer,
  attempted: ({ body }) => ({ operation: 'refuse', reason: body.reason }),
  run: (context, { params, body }) => sayOfPlan(context, params.plan, 'refuse', body),
});
