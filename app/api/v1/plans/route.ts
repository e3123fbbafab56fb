import { readPlans } from '@/lib/server/reads/plans';
import { defineRoute } from '@/lib/server/route';
import { plansQuery } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.plans',
  permission: 'outbox:read',
  query: plansQuery,
  run: (context, { query }) => readPlans(context, query),
});
