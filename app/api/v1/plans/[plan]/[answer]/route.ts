import { sayOfPlan } from '@/lib/server/reads/plans';
import { defineRoute } from '@/lib/server/route';
import { answerOfPlan, nothing, planAnswer } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.plan.answer',
  permission: 'plan:approve',
  params: answerOfPlan,
  query: nothing,
  body: planAnswer,
  attempted: ({ params, body }) => ({ operation: params.answer, reason: body.reason }),
  run: (context, { params, body }) => sayOfPlan(context, params.plan, params.answer, body),
});
