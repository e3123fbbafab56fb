import type { z } from 'zod';
import type { Context } from '@/lib/server/context';
import { sayOfPlan } from '@/lib/server/reads/plans';
import { ofPlan, planAnswer, type PlanAnswer } from '@/lib/server/schemas';

/** What a route does by which somebody says yes or no to a plan. */
export const answerToPlan = (answer: 'approve' | 'refuse') => ({
  params: ofPlan,
  body: planAnswer,
  attempted: ({ body }: { body: PlanAnswer }) => ({ operation: answer, reason: body.reason }),
  run: (context: Context, { params, body }: { params: z.infer<typeof ofPlan>; body: PlanAnswer }) =>
    sayOfPlan(context, params.plan, answer, body),
});
