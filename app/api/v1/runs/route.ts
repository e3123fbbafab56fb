import { z } from 'zod';
import { readRuns } from '@/lib/server/reads/runs';
import { defineRoute } from '@/lib/server/route';
import { outboxId } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.runs',
  permission: 'outbox:read',
  query: z.strictObject({ outbox: outboxId.optional() }),
  run: (context, { query }) => readRuns(context, query.outbox),
});
