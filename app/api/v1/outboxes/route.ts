import { listOutboxes } from '@/lib/server/reads/outboxes';
import { defineRoute } from '@/lib/server/route';

export const GET = defineRoute({
  id: 'api.outboxes',
  permission: 'outbox:read',
  run: async ({ console }) => ({ outboxes: await listOutboxes(console) }),
});
