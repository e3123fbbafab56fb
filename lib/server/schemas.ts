/** Parts of requests that several entry points share. */
import { z } from 'zod';
import { isFingerprint } from '@/lib/outbox/lists/causes';
import { PROOF_EVENTS_MAX } from '@/lib/proving/prove';
import { PLAN_FILTER_STATES } from '@/lib/store/plans';
import { MARK_DAYS } from '@/lib/store/marks';
import { parseInstant } from '@/lib/shared/lists/event-filter';
import { FIND_KEY_MAX, keyProblem } from '@/lib/shared/lists/found';
import { INTERVENTION_EVENTS_MAX, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, REASON_MAX, REASON_MIN, SKIP_CODES } from '@/lib/shared/model';
import { CAUSE_NOTE_MAX } from '@/lib/shared/dead-letter-groups';
import { RATE_MAX, SHARE_MIN } from '@/lib/shared/runs/runs';
import { MARK_KINDS, MARK_TEXT_MAX } from '@/lib/shared/figures/marks';
import { DEFAULT_WINDOW, WINDOWS } from '@/lib/shared/figures/windows';
import { LEFT_CODES, PLAN_IDS_MAX } from '@/lib/shared/runs/plans';
import { Problem } from '@/lib/shared/problems';

/** Text that may be sent to a database: no event contains a NUL. */
const plain = (max: number) =>
  z
    .string()
    .min(1, 'write something')
    .max(max, `write at most ${max} characters`)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), 'holds a character that no database stores');

export const outboxId = z.string().min(1).max(63);
export const ofOutbox = z.object({ outbox: outboxId });
export const eventId = plain(512);
export const windowSchema = z.enum(WINDOWS, `write one of ${WINDOWS.join(', ')}`).default(DEFAULT_WINDOW);
export const typeSchema = plain(512);
const WRONG_KEY = {
  empty: 'write something',
  too_long: `write at most ${FIND_KEY_MAX} characters`,
  bad_character: 'holds a NUL character',
};
export const findQuery = z.strictObject({
  key: z.string('write it once').check(({ value, issues }) => {
    const wrong = keyProblem(value);
    if (wrong !== null) issues.push({ code: 'custom', input: value, message: WRONG_KEY[wrong] });
  }),
});
export const cursorSchema = plain(2_048).optional();

/** `limit` of a query string: 1 to 200, default 50. */
export const limitSchema = z
  .string()
  .regex(/^\d{1,3}$/, `write a number from 1 to ${PAGE_LIMIT_MAX}`)
  .transform(Number)
  .refine((limit) => limit >= 1 && limit <= PAGE_LIMIT_MAX, `write a number from 1 to ${PAGE_LIMIT_MAX}`)
  .default(PAGE_LIMIT_DEFAULT);

/** An ISO 8601 time with a zone, converted to UTC. */
export const instant = z.string().transform((text, check) => {
  const parsed = parseInstant(text);
  if (typeof parsed === 'string') return parsed;
  check.addIssue({ code: 'custom', message: 'write a time such as 2026-11-21T14:00:00Z' });
  return z.NEVER;
});

/** An empty filter counts as none. */
const filled = <T extends z.ZodType>(schema: T) => z.preprocess((value) => (value === '' ? undefined : value), schema.optional());

export const auditQuery = z.strictObject({
  outbox: filled(plain(63)),
  event: filled(eventId),
  actor: filled(plain(254)),
  operation: filled(plain(63)),
  action: filled(z.uuid('write the id of an intervention')),
  by: filled(z.enum(['line', 'action'], 'write one of line, action')),
  outcome: filled(z.enum(['applied', 'none', 'refused', 'unknown'], 'write one of applied, none, refused, unknown')),
  from: filled(instant),
  to: filled(instant),
  cursor: filled(cursorSchema),
  limit: limitSchema,
});

const reason = z
  .string()
  .trim()
  .min(REASON_MIN, `write at least ${REASON_MIN} characters`)
  .max(REASON_MAX, `write at most ${REASON_MAX} characters`)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), 'holds a character that no database stores');

export const interventionRequest = z.strictObject({
  operation: plain(63),
  events: z
    .array(z.strictObject({ id: eventId, version: plain(4_096) }))
    .min(1, 'name at least one event')
    .max(INTERVENTION_EVENTS_MAX, `name at most ${INTERVENTION_EVENTS_MAX} events`)
    .refine((events) => new Set(events.map((event) => event.id)).size === events.length, 'name each event once'),
  reason,
});

const queryField = z.union([z.string().max(2_000), z.array(z.string().max(2_000)).max(100)]);

/** Which events: a list's filter, as fields or as in its URL, a cause, ids, or what a run left. */
const planSource = z.union(
  [
    z.strictObject({ filter: z.union([z.string().max(16_000), z.record(z.string().max(40), queryField)]) }),
    z.strictObject({ cause: plain(200) }),
    z.strictObject({ ids: z.array(eventId).min(1, 'name at least one id').max(PLAN_IDS_MAX, `name at most ${PLAN_IDS_MAX} ids`) }),
    z.strictObject({ run: z.uuid('write the id of a run'), codes: z.array(z.enum([...SKIP_CODES, ...LEFT_CODES])).min(1) }),
  ],
  `write one of {filter: {state: "dead"}}, {cause: "id"}, {ids: ["1"]} with 1 to ${PLAN_IDS_MAX} ids, {run: "id", codes: ["failed_again"]} with codes of ${[...LEFT_CODES, ...SKIP_CODES].join(', ')}`,
);

export const planRequest = z.strictObject({ operation: plain(63), reason, source: planSource });
export type PlanAsked = z.infer<typeof planRequest>;
export const ofPlan = z.object({ plan: z.uuid('write the id of a plan') });
const planHash = z.string().regex(/^[0-9a-f]{64}$/, 'write the hash of the plan, 64 hexadecimal digits');
export const planAnswer = z.strictObject({ reason, hash: planHash.optional() });
export type PlanAnswer = z.infer<typeof planAnswer>;
export const plansQuery = z.strictObject({
  outbox: filled(plain(63)),
  state: filled(z.enum(PLAN_FILTER_STATES, `write one of ${PLAN_FILTER_STATES.join(', ')}`)),
  cursor: filled(cursorSchema),
  limit: limitSchema,
});
export const ofRun = z.object({ run: z.uuid('write the id of a run') });

const pace = {
  share: z.number().min(SHARE_MIN, `write a share from ${SHARE_MIN} to 1`).max(1, `write a share from ${SHARE_MIN} to 1`),
  ratePerSecond: z
    .number()
    .min(0.1, 'write at least 0.1 events a second, or null')
    .max(RATE_MAX, `write at most ${RATE_MAX} events a second, or null`)
    .nullable(),
};
export const paceRequest = z.strictObject(pace);
/** What is left out is as by default. */
export const runRequest = paceRequest.partial();

const DAY_MS = 86_400_000;

/** A link for people to follow: http(s) only, without user name and password. */
const webAddress = z
  .string()
  .max(2_000, 'write at most 2000 characters')
  .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), 'write an address that begins with https:// or http://')
  .refine((text) => !URL.canParse(text) || new URL(text).username + new URL(text).password === '', 'leave out user name and password');

export const markRequest = z.strictObject({
  at: instant
    .refine((text) => {
      const agoMs = Date.now() - Date.parse(text);
      return agoMs <= MARK_DAYS * DAY_MS && agoMs >= -DAY_MS;
    }, `write a time of the last ${MARK_DAYS} days or of the next 24 hours`)
    .optional(),
  kind: z.enum(MARK_KINDS, `write one of ${MARK_KINDS.join(', ')}`),
  text: plain(10 * MARK_TEXT_MAX)
    .transform((text) => text.trim())
    .refine((text) => text.length > 0, 'write something')
    .refine((text) => [...text].length <= MARK_TEXT_MAX, `write at most ${MARK_TEXT_MAX} characters`)
    .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), 'write one line, without control characters'),
  outbox: outboxId.nullish(),
  url: webAddress.nullish(),
});
export type MarkRequest = z.infer<typeof markRequest>;

export const findingId = plain(200);

export const silenceRequest = z.strictObject({ outbox: outboxId, finding: findingId, reason });
export type SilenceRequest = z.infer<typeof silenceRequest>;

export const causeNoteRequest = z.strictObject({
  outbox: outboxId,
  cause: z.string().refine(isFingerprint, 'write the id of a cause, as groups have it'),
  /** Empty: takes it off. */
  note: z
    .string()
    .trim()
    .max(CAUSE_NOTE_MAX, `write at most ${CAUSE_NOTE_MAX} characters`)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), 'holds a NUL character, or half of one'),
});
export type CauseNoteRequest = z.infer<typeof causeNoteRequest>;

export const doctorQuery = z.strictObject({
  outbox: filled(outboxId),
  format: z.enum(['json', 'markdown', 'csv'], 'write one of json, markdown, csv').default('json'),
});

export const marksQuery = z.strictObject({ outbox: filled(outboxId), from: filled(instant), to: filled(instant) });

/** Printable ASCII, as headers allow; keys of runs are the console's own. */
export const idempotencyKey = z
  .string()
  .regex(/^(?!run\/)[\x21-\x7e]{1,200}$/, 'send 1 to 200 printable characters that do not begin with run/, for instance a UUID');

/** The Idempotency-Key of a request. Throws Problem `invalid` if it is not one. */
export function requireKey(sent: string, detail: string): string {
  const key = idempotencyKey.safeParse(sent);
  if (key.success) return key.data;
  throw new Problem('invalid', detail, { fields: { 'Idempotency-Key': key.error.issues[0]?.message ?? 'wrong' } });
}

/** Real events to prove a mapping on, if no row can be made; none by default. */
export const proofRequest = z.strictObject({
  events: z.array(eventId).max(PROOF_EVENTS_MAX, `name at most ${PROOF_EVENTS_MAX} events`).default([]),
});

export const changesRequest = z.strictObject({ on: z.boolean(), reason });
