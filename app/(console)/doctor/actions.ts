'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { examineNow, liftSilence, readDoctor, silenceFinding } from '@/lib/server/reads/doctor';
import { findingId, outboxId, silenceRequest } from '@/lib/server/schemas';

/** What the doctor knows; no database is waited for. */
export const doctorSnapshot = defineAction({
  id: 'doctor.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({ outbox: outboxId.optional() }),
  run: (context, { outbox }) => readDoctor(context, outbox),
});

/** Examines one outbox, or begins to examine all. */
export const examine = defineAction({
  id: 'doctor.examine',
  permission: 'outbox:read',
  input: z.strictObject({ outbox: outboxId.nullable() }),
  run: (context, { outbox }) => examineNow(context, outbox),
});

/** Silences a finding, with a reason. */
export const silence = defineAction({
  id: 'doctor.silence',
  permission: 'doctor:silence',
  input: silenceRequest,
  attempted: ({ outbox, reason }) => ({ operation: 'doctor_silence', outbox, reason }),
  run: (context, input) => silenceFinding(context, input),
});

/** Lifts a silence. */
export const lift = defineAction({
  id: 'doctor.lift',
  permission: 'doctor:silence',
  input: z.strictObject({ outbox: outboxId, finding: findingId }),
  attempted: ({ outbox, finding }) => ({ operation: 'doctor_lift', outbox, reason: finding }),
  run: (context, input) => liftSilence(context, input),
});
