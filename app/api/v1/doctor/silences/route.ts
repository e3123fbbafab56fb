import { z } from 'zod';
import { liftSilence, silenceFinding } from '@/lib/server/reads/doctor';
import { defineRoute } from '@/lib/server/route';
import { findingId, outboxId, silenceRequest } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.doctor.silences',
  permission: 'doctor:silence',
  body: silenceRequest,
  attempted: ({ body }) => ({ operation: 'doctor_silence', outbox: body.outbox, reason: body.reason }),
  run: (context, { body }) => silenceFinding(context, body),
});

export const DELETE = defineRoute({
  id: 'api.doctor.silences',
  permission: 'doctor:silence',
  query: z.strictObject({ outbox: outboxId, finding: findingId }),
  attempted: ({ query }) => ({ operation: 'doctor_lift', outbox: query.outbox, reason: query.finding }),
  run: (context, { query }) => liftSilence(context, query),
});
