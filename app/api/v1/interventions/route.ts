import { z } from 'zod';
import { interventionByKey } from '@/lib/server/reads/changes';
import { defineRoute } from '@/lib/server/route';
import { idempotencyKey, outboxId } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.intervention.by-key',
  permission: 'event:operate',
  query: z.strictObject({ outbox: outboxId, key: idempotencyKey }),
  run: (context, { query }) => interventionByKey(context, query.outbox, query.key),
});
