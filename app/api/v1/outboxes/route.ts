import { listOutboxes } from '@/lib/server/reads/outboxes';
import { defineRoute } from '@/lib/server/route';

export const GET = defineRoute({
  id: 'api.outboxes',
  permission: 'outbox:read',
  query: null,
  run: async ({ console }) => ({ outboxes: await listOutboxes(console) }),
});
