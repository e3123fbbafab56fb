'use server';

import { z } from 'zod';
import { defineAction, defineSnapshot } from '@/lib/server/action';
import { readAuditPage } from '@/lib/server/reads/audit';
import { interventionByKey, readFates, readPreview, runIntervention, runProof, switchChanges } from '@/lib/server/reads/changes';
import { noteCause, readCause } from '@/lib/server/reads/causes';
import { readDeadLettersSnapshot } from '@/lib/server/reads/dead-letters';
import { readExamination } from '@/lib/server/reads/detection';
import { examineNow, liftSilence, readDoctor, silenceFinding } from '@/lib/server/reads/doctor';
import { readEventUpdate } from '@/lib/server/reads/event';
import { readEventsSnapshot } from '@/lib/server/reads/events';
import { readFound } from '@/lib/server/reads/find';
import { readFleet, readOutbox, readTypeTrends } from '@/lib/server/reads/figures';
import { addMark, endMark } from '@/lib/server/reads/marks';
import {
  causeNoteRequest,
  changesRequest,
  eventId,
  findingId,
  findQuery,
  idempotencyKey,
  interventionRequest,
  markRequest,
  outboxId,
  proofRequest,
  silenceRequest,
  typeSchema,
  windowSchema,
} from '@/lib/server/schemas';
import { spanSchema } from '@/lib/server/series-query';
import { TREND_TYPES_MAX } from '@/lib/shared/figures/chart-view';
import { INTERVENTION_EVENTS_MAX } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { LIVE_STATES } from '@/lib/shared/states';

export const fleetSnapshot = defineSnapshot('fleet.snapshot', z.strictObject({}), (context) => readFleet(context));

export const findSnapshot = defineSnapshot('find.snapshot', findQuery, (context, { key }) => readFound(context, key));

export const outboxSnapshot = defineSnapshot(
  'outbox.snapshot',
  z.strictObject({ outbox: outboxId, window: windowSchema, span: spanSchema, type: typeSchema.optional() }),
  (context, { outbox, window, ...query }) => readOutbox(context, outbox, window, query),
);

export const typeTrends = defineSnapshot(
  'outbox.type-trends',
  z.strictObject({ outbox: outboxId, window: windowSchema, types: z.array(typeSchema).max(TREND_TYPES_MAX) }),
  (context, { outbox, window, types }) => readTypeTrends(context, outbox, window, types),
);

export const markOutbox = defineAction({
  id: 'outbox.mark',
  permission: 'mark:write',
  input: z.strictObject({ mark: markRequest, key: idempotencyKey }),
  attempted: ({ mark }) => ({ operation: 'mark', outbox: mark.outbox, reason: mark.text }),
  run: (context, { mark, key }) => addMark(context, mark, key),
});

export const unmarkOutbox = defineAction({
  id: 'outbox.unmark',
  permission: 'mark:write',
  input: z.strictObject({ outbox: outboxId, mark: z.uuid() }),
  attempted: ({ outbox }) => ({ operation: 'unmark', outbox }),
  run: (context, { mark }) => endMark(context, mark),
});

export const eventsSnapshot = defineSnapshot(
  'events.snapshot',
  z.strictObject({ outbox: outboxId, query: z.string().max(16_000) }),
  (context, { outbox, query }) => readEventsSnapshot(context, outbox, query),
);

/** Everything about one event: a reading newer than `since`, or a new one without it. Content that the screen has is left out. */
export const eventSnapshot = defineSnapshot(
  'event.snapshot',
  z.strictObject({
    outbox: outboxId,
    event: eventId,
    full: z.boolean().optional(),
    since: z.iso.datetime().optional(),
    contentKey: z.uuid().optional(),
  }),
  (context, { outbox, event, ...request }) => readEventUpdate(context, outbox, event, request),
);

export const deadLettersSnapshot = defineSnapshot(
  'dead-letters.snapshot',
  z.strictObject({ outbox: outboxId.nullable(), query: z.string().max(16_000) }),
  (context, { outbox, query }) => readDeadLettersSnapshot(context, outbox, new URLSearchParams(query)),
);

/** What an operation would do to these events now; an empty version is for reading the row as it is. */
export const previewIntervention = defineAction({
  id: 'intervention.preview',
  permission: 'event:operate',
  input: z.strictObject({
    outbox: outboxId,
    operation: z.string().min(1).max(63),
    events: z
      .array(z.strictObject({ id: eventId, version: z.string().max(4_096) }))
      .min(1)
      .max(INTERVENTION_EVENTS_MAX),
  }),
  run: (context, { outbox, operation, events }) => readPreview(context, outbox, { operation, events }),
});

export const intervene = defineAction({
  id: 'intervention.carry-out',
  permission: 'event:operate',
  input: z.strictObject({ outbox: outboxId, request: interventionRequest, key: idempotencyKey }),
  attempted: ({ outbox, request }) => ({ outbox, ...request }),
  run: runIntervention,
});

/** What became of the actor's own intervention with this key; null if it left no record. */
export const checkIntervention = defineAction({
  id: 'intervention.check',
  permission: 'event:operate',
  input: z.strictObject({ outbox: outboxId, key: idempotencyKey }),
  run: (context, { outbox, key }) =>
    interventionByKey(context, outbox, key).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'not_found') return null;
      throw error;
    }),
});

export const followIntervention = defineAction({
  id: 'intervention.follow',
  permission: 'event:operate',
  input: z.strictObject({ outbox: outboxId, intervention: z.uuid() }),
  run: (context, { outbox, intervention }) => readFates(context, outbox, intervention),
});

export const proveMapping = defineAction({
  id: 'proof.run',
  permission: 'mapping:prove',
  input: z.strictObject({ outbox: outboxId, proof: proofRequest }),
  attempted: ({ outbox }) => ({ operation: 'prove', outbox }),
  run: (context, { outbox, proof }) => runProof(context, outbox, proof.events),
});

export const turnChanges = defineAction({
  id: 'proof.switch',
  permission: 'mapping:prove',
  input: z.strictObject({ outbox: outboxId, request: changesRequest }),
  attempted: ({ outbox, request: { on, reason } }) => ({ operation: on ? 'turn_changes_on' : 'turn_changes_off', outbox, reason }),
  run: (context, { outbox, request }) => switchChanges(context, outbox, request),
});

export const auditSnapshot = defineAction({
  id: 'audit.snapshot',
  permission: 'audit:read',
  input: z.strictObject({ query: z.string().max(4_000) }),
  run: (context, { query }) => readAuditPage(context, new URLSearchParams(query)),
});

export const causeSnapshot = defineSnapshot(
  'causes.snapshot',
  z.strictObject({ outbox: outboxId, cause: z.string().max(200), events: z.array(eventId).max(3) }),
  (context, cause) => readCause(context, cause),
);

export const writeCauseNote = defineAction({
  id: 'causes.note',
  permission: 'event:operate',
  input: causeNoteRequest,
  attempted: ({ outbox, note }) => ({ operation: 'cause_note', outbox, reason: note }),
  run: (context, input) => noteCause(context, input),
});

export const doctorSnapshot = defineSnapshot('doctor.snapshot', z.strictObject({ outbox: outboxId.optional() }), (context, { outbox }) =>
  readDoctor(context, outbox),
);

export const examine = defineAction({
  id: 'doctor.examine',
  permission: 'outbox:read',
  input: z.strictObject({ outbox: outboxId.nullable() }),
  run: (context, { outbox }) => examineNow(context, outbox),
});

export const silence = defineAction({
  id: 'doctor.silence',
  permission: 'doctor:silence',
  input: silenceRequest,
  attempted: ({ outbox, reason }) => ({ operation: 'doctor_silence', outbox, reason }),
  run: (context, input) => silenceFinding(context, input),
});

export const lift = defineAction({
  id: 'doctor.lift',
  permission: 'doctor:silence',
  input: z.strictObject({ outbox: outboxId, finding: findingId }),
  attempted: ({ outbox, finding }) => ({ operation: 'doctor_lift', outbox, reason: finding }),
  run: (context, input) => liftSilence(context, input),
});

const name = z.string().min(1).max(128);

/** One candidate in detail, with the states chosen for its status values. Admins only: it reads tables that are not configured. */
export const examineCandidate = defineAction({
  id: 'detect.examine',
  permission: 'account:manage',
  input: z.strictObject({
    database: name,
    schema: name,
    table: name,
    confirmed: z.record(z.string().max(200), z.enum(LIVE_STATES).nullable()).refine((words) => Object.keys(words).length <= 100),
  }),
  run: (context, { database, schema, table, confirmed }) => readExamination(context, database, { schema, table }, confirmed),
});
