import { readApprovals } from '@/lib/server/reads/plans';
import { defineRoute } from '@/lib/server/route';
import { nothing } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.approvals',
  permission: 'outbox:read',
  query: nothing,
  run: (context) => readApprovals(context),
});
