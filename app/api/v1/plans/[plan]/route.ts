import { readPlan } from '@/lib/server/reads/plans';
import { defineRoute } from '@/lib/server/route';
import { nothing, ofPlan } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.plan-by-id',
  permission: 'outbox:read',
  params: ofPlan,
  query: nothing,
  run: (context, { params }) => readPlan(context, params.plan),
});
