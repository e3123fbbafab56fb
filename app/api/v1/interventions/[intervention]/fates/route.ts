import { z } from 'zod';
import { readFates } from '@/lib/server/reads/changes';
import { defineRoute } from '@/lib/server/route';
import { outboxId } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.intervention.fates',
  permission: 'audit:read',
  params: z.object({ intervention: z.uuid('write the id of an intervention') }),
  query: z.strictObject({ outbox: outboxId }),
  run: (context, { params, query }) => readFates(context, query.outbox, params.intervention),
});
