import { z } from 'zod';
import { defineRoute } from '@/lib/server/route';
import { outboxId, windowSchema } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.summary',
  permission: 'outbox:read',
  params: z.object({ outbox: outboxId }),
  query: z.strictObject({ window: windowSchema }),
  run: ({ console }, { params, query }) => console.snapshots.summary(params.outbox, query.window),
});
