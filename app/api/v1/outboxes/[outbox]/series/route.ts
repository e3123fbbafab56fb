import { z } from 'zod';
import { readSeries } from '@/lib/server/reads/figures';
import { defineRoute } from '@/lib/server/route';
import { outboxId, windowSchema } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.series',
  permission: 'outbox:read',
  params: z.object({ outbox: outboxId }),
  query: z.strictObject({ window: windowSchema }),
  run: (context, { params, query }) => readSeries(context, params.outbox, query.window),
});
