import { z } from 'zod';
import { examineNow } from '@/lib/server/reads/doctor';
import { defineRoute } from '@/lib/server/route';
import { outboxId } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.doctor.examinations',
  permission: 'outbox:read',
  body: z.strictObject({ outbox: outboxId.nullish() }),
  run: (context, { body }) => examineNow(context, body.outbox ?? null),
});
