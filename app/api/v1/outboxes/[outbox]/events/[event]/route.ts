import { z } from 'zod';
import { readEventDetail } from '@/lib/server/reads/event';
import { defineRoute } from '@/lib/server/route';
import { eventId, outboxId } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.event',
  permission: 'outbox:read',
  params: z.object({ outbox: outboxId, event: eventId }),
  query: z.strictObject({ content: z.literal('full').optional() }),
  run: (context, { params, query }) => readEventDetail(context, params.outbox, params.event, query.content === 'full'),
});
