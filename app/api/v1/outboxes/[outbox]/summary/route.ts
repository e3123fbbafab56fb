import { z } from 'zod';
import { readSummary } from '@/lib/server/reads/figures';
import { defineRoute } from '@/lib/server/route';
import { ofOutbox, windowSchema } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.summary',
  permission: 'outbox:read',
  params: ofOutbox,
  query: z.strictObject({ window: windowSchema }),
  run: (context, { params, query }) => readSummary(context, params.outbox, query.window),
});
