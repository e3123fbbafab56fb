import { readApprovals } from '@/lib/server/reads/plans';
import { defineRoute } from '@/lib/server/route';

export const GET = defineRoute({
  id: 'api.approvals',
  permission: 'outbox:read',
  run: (context) => readApprovals(context),
});
