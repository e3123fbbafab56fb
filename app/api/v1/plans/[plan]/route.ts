import { readPlan } from '@/lib/server/reads/plans';
import { defineRoute } from '@/lib/server/route';
import { ofPlan } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.plan-by-id',
  permission: 'outbox:read',
  params: ofPlan,
  run: (context, { params }) => readPlan(context, params.plan),
});
