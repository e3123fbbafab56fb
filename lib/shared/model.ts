/** What the console says about outboxes and events, on HTTP, to actions and screens. Ids and 64-bit numbers are strings, times ISO 8601. */
import type { AuditLack, AuditOddity } from './changes/carrying';
import type { CollectorStatus } from './figures/collection';
import { type Content, type ListScope } from './lists/shown';
import type { Count, Known, Percentiles, UnavailableReason } from './figures/measured';
import type { MetricFigures, MetricSeries } from './figures/metrics';
import type { ReadOnlyReason } from './changes/read-only';
import type { ShownCode } from './problems';
import type { SlotHealth } from './figures/slot-health';
import type { EventState, State } from './states';
import type { Diagnosis } from './figures/verdicts';
import type { Window } from './figures/windows';

export const ENGINE_KEYS = ['postgres', 'mysql'] as const;
export type EngineKey = (typeof ENGINE_KEYS)[number];

/** An operation this outbox offers, and from which states; or why it does not (`refusals.<code>`). */
export type OperationCapability = { offered: true; from: State[]; warnings: string[] } | { offered: false; because: string };

export interface Capabilities {
  /** For each state: can this table show it, and if not, why. */
  states: Record<State, { available: true } | { available: false; because: UnavailableReason }>;
  operations: Record<string, OperationCapability>;
  /** The relay keeps the order of a key, so an unpublished event blocks the later ones of its aggregate. */
  keepsOrder: boolean;
  fields: Record<
    | 'aggregate'
    | 'createdAt'
    | 'publishedAt'
    | 'lastAttemptAt'
    | 'attempts'
    | 'error'
    | 'dedupKey'
    | 'traceId'
    | 'headers'
    | 'amount'
    | keyof Claim,
    boolean
  >;
}

export interface OutboxInfo {
  id: string;
  name: string;
  database: string;
  engine: EngineKey;
  /** Key of the shape, or `inline`. */
  shape: string;
  table: string;
  capabilities: Capabilities;
  writable: boolean;
  whyReadOnly: ReadOnlyReason | null;
}

/** Texts of an event that can be read out of its payload or headers, and so be masked there. */
export type EventText = 'type' | 'aggregateType' | 'aggregateId' | 'error' | 'dedupKey' | 'traceId' | 'amount' | 'currency';
type EventTime = 'createdAt' | 'publishedAt' | 'lastAttemptAt';

export interface OutboxEvent extends Record<EventText | EventTime, string | null> {
  id: string;
  state: EventState;
  /** The library's own word for the state, where the shape has one; null where it would only repeat the state. */
  stateLabel: string | null;
  attempts: number | null;
  maxAttempts: number | null;
  /** Parts of its payload, such as the amount, were left unread (null): more than 256 kB are not looked into for every row. */
  tooLarge: boolean;
  /** What the operator saw; opaque, handed back with an intervention. null for roles that may change nothing: it tells of what is masked. */
  version: string | null;
}

/** As the database answers it, and as those see it who may change it. */
export type VersionedEvent = OutboxEvent & { version: string };

/** When the relay takes an event, and who has it; null where the table or the row does not say. */
export interface Claim {
  /** Not before this is it tried; ISO 8601. */
  availableAt: string | null;
  /** Until when the claim holds, ISO 8601: one in the past has run out. */
  lockedUntil: string | null;
  lockedBy: string | null;
}

export interface Neighbour {
  event: OutboxEvent;
  current: boolean;
  /** Waits behind an earlier unpublished event of its key. */
  blocked: boolean;
  /** A later event of its key is already out. */
  overtaken: boolean;
}

export interface EventLink {
  label: string;
  url: string;
}

export interface EventDetail {
  asOf: string;
  event: OutboxEvent;
  claim: Claim;
  payload: Content;
  headers: Content | null;
  neighbours: Neighbour[];
  /** False where there may be more of them: without an index on the aggregate only events around this one were looked at. */
  neighboursComplete: boolean;
  /** Newest first. */
  interventions: AuditEntry[];
  links: EventLink[];
  /** Shape-specific cautions, e.g. `may_already_be_out`; words under `warnings.<code>`. */
  warnings: string[];
  /** What each operation would say to this event now: null when it may be done, else a skip code or a refusal. */
  operations: Record<string, { allowed: boolean; because: string | null; warnings: string[] }>;
  /** Where an archived event was when it was archived; null unless archived. */
  archived: { at: string; by: string; reason: string; fromState: State; interventionId: string } | null;
}

/** An event's page as it is now, its content left out for who has it already; `contentKey` says which that is. */
export interface EventUpdate extends Omit<EventDetail, 'payload' | 'headers'>, Partial<Pick<EventDetail, 'payload' | 'headers'>> {
  contentKey: string;
}

export interface EventFilter {
  state?: State[];
  type?: string[];
  aggregate?: string;
  /** An id, dedup key or aggregate id, matched exactly. */
  q?: string;
  /** Substring of the error text, case-insensitive. */
  error?: string;
  /** An error's text as the asker sees it, or its template: dead events that died of the same. */
  cause?: string;
  /** ISO 8601, inclusive, on creation time. */
  from?: string;
  /** ISO 8601, exclusive, on creation time. */
  to?: string;
  order?: 'newest' | 'oldest';
}

export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 200;

export interface EventPage<E extends OutboxEvent = OutboxEvent> extends ListScope {
  asOf: string;
  events: E[];
  nextCursor: string | null;
  previousCursor: string | null;
}

export interface TypeFigures extends Record<'waiting' | 'dead' | 'retries' | 'errors' | 'p95Ms', number | null> {
  type: string;
}

export interface Summary extends MetricFigures {
  asOf: string;
  /** Since when events are counted: the whole minute before the window begins, of a window of days the whole hour; ISO 8601 UTC. */
  from: string;
  window: Window;
  depth: { pending: Count; retrying: Count; processing: Count; dead: Count; waiting: Count };
  oldestPendingAt: string | null;
  lastPublishedAt: string | null;
  latency: Percentiles & { count: number | null; meanMs: number | null };
  processing: Percentiles;
  throughput: { createdPerMinute: number | null; publishedPerMinute: number | null; known: Known; why?: UnavailableReason };
  byType: TypeFigures[];
  /** Of an outbox whose rows do not tell what is out; null where they do, and before it has been read. */
  slot: SlotHealth | null;
  diagnosis: Diagnosis;
}

type StepValue = MetricSeries | 'waiting' | 'dead' | 'created' | 'published' | 'p50Ms' | 'p95Ms' | 'p99Ms';

/** What a step of a series says, a field a line. */
export interface SeriesValues extends Record<StepValue, number | null> {
  /** Age of the oldest waiting event, the greatest of the step. */
  oldestAgeMs: number | null;
  /** Events the percentiles are of. */
  latencyCount: number | null;
}

export interface SeriesPoint extends SeriesValues {
  at: string;
  /** Events by duration, one count per bound of `heatBoundsMs` and one for what is longer; null where not known. */
  heat: number[] | null;
  /** Nobody watched, and the rows no longer tell: a gap, not a zero. */
  gap: boolean;
  /** Rows of transactions that were still open may be missing. */
  provisional: boolean;
}

/** A line of a series, or lines that are known alike. */
export type SeriesLine = 'waiting' | 'dead' | 'created' | 'published' | 'errors' | 'latency';

export interface Series {
  asOf: string;
  /** null for a span of its own. */
  window: Window | null;
  /** Of one event type; null for all. */
  type: string | null;
  stepSeconds: number;
  points: SeriesPoint[];
  known: Record<SeriesLine, Known>;
  /** Why a line has no value at all, of those whose `known` is `unavailable`. */
  why: Partial<Record<SeriesLine, UnavailableReason>>;
  /** Upper bounds of the rows of the heat map, in milliseconds. */
  heatBoundsMs: number[];
}

/** What failed: the reading took too long, the database is away or answers and cannot be read, or the store that computes its figures is away. */
export type StaleProblem = 'timeout' | 'unavailable' | 'unreadable' | 'store';

/** An outbox with its figures; `summary` keeps the last good reading when the source is down. */
export interface OutboxReading {
  outbox: OutboxInfo;
  summary: Summary;
  /** null until the collector has looked at this outbox. */
  collector: CollectorStatus | null;
  /** The last good reading is older than this one asked for: since when, and what failed. */
  stale: { since: string; problem: StaleProblem } | null;
}

export interface OutboxSnapshot extends OutboxReading {
  asOf: string;
  series: Series;
}

/** What the dead events of a group have in common; an error is counted under its template. */
export type Cause = Pick<OutboxEvent, 'type' | 'error'>;

export interface DeadLetterGroup extends Cause {
  outbox: string;
  count: number;
  newestAt: string | null;
  oldestAt: string | null;
  sampleEventId: string;
}

/** An event as it was seen, without what is only to be read: enough to act on it later. */
export type FrozenEvent = Pick<VersionedEvent, 'id' | 'version' | 'state' | 'amount' | 'currency'>;

export interface FrozenPage {
  events: FrozenEvent[];
  /** null at the end of the list. */
  nextCursor: string | null;
  /** Rows that were looked at for them, at the least. */
  looked: number;
  /** False where the search for them was bounded, so that the list may have more. Meant for its last stretch. */
  complete: boolean;
}

/** Dead letters of one outbox: rows, and a count per type and error text over the rows read. */
export interface DeadLetters {
  outbox: OutboxInfo;
  dead: Count;
  groups: DeadLetterGroup[];
  page: EventPage | null;
  problem: 'timeout' | 'unavailable' | null;
}

export const SKIP_CODES = [
  'changed_since_seen',
  'being_processed',
  'already_published',
  'wrong_state',
  'locked',
  'not_found',
  'not_supported',
  'too_young',
  'already_exists',
  'did_not_take',
  'blocked_by_order',
] as const;
export type SkipCode = (typeof SKIP_CODES)[number];

export interface Skipped {
  id: string;
  code: SkipCode;
  /** What the row says now, for the sentence: state, time it was published, or the refusal's reason and what that is about. */
  detail?: { state?: EventState; at?: string | null; because?: string; of?: string };
}

export type Outcome = 'applied' | 'partly' | 'none' | 'unknown';

export interface InterventionRequest {
  operation: string;
  /** 1 to 200 distinct events, each with the version that was seen. */
  events: { id: string; version: string }[];
  /** 3 to 500 characters. */
  reason: string;
}

export const INTERVENTION_EVENTS_MAX = 200;
/** Most events ticked at once; more than INTERVENTION_EVENTS_MAX go as several interventions, one after another. */
export const TICKED_EVENTS_MAX = 10_000;
export const REASON_MIN = 3;
export const REASON_MAX = 500;

export interface InterventionResult extends Record<'interventionId' | 'outbox' | 'operation' | 'reason' | 'actor', string> {
  at: string | null;
  outcome: Outcome;
  changed: string[];
  skipped: Skipped[];
  /** The operation that takes this one back, if there is one. */
  undo: string | null;
}

/** What an operation would do, for the confirm dialog; nothing has been changed. */
export interface InterventionPreview {
  outbox: string;
  operation: string;
  rows: { event: VersionedEvent; allowed: boolean; code: SkipCode | null; because: string | null }[];
  allowed: number;
  warnings: string[];
  /** The statements that will run, values as numbered parameters, and the values. */
  sql: { text: string; parameters: string[] }[];
}

export interface AuditEntry {
  id: string;
  at: string;
  actor: string;
  role: string;
  operation: string;
  /** Null for what is of no single outbox: sign-ins, accounts, tokens, marks on all charts. */
  outbox: string | null;
  eventId: string | null;
  eventType: string | null;
  aggregateId: string | null;
  reason: string;
  /** `applied`, `none` (skipped, see `code`), `refused` (see `code`) or `unknown`. */
  outcome: 'applied' | 'none' | 'refused' | 'unknown';
  /** A skip code, or the problem code of a refusal. */
  code: string | null;
  interventionId: string | null;
  /** Columns before and after as text, payload left out; null when there is none. */
  before: Record<string, string | null> | null;
  after: Record<string, string | null> | null;
  /** What is odd about the record behind it. */
  oddities: AuditOddity[];
}

export type AuditFilter = Partial<Record<'outbox' | 'event' | 'actor' | 'operation' | 'outcome' | 'from' | 'to', string>>;

export interface AuditPage {
  asOf: string;
  entries: AuditEntry[];
  nextCursor: string | null;
  /** Databases with records that the audit does not have, or may not have. */
  lacks: AuditLack[];
}

/** What the events screen polls: a page of events, or why there is none (a filter that reads too much, a source that is down). */
export interface EventsSnapshot {
  asOf: string | null;
  page: EventPage | null;
  problem: { code: ShownCode; reference?: string } | null;
}

/** What the dead-letter screens poll: one outbox's, or every outbox's; each says for itself when it cannot be read. */
export interface DeadLettersSnapshot {
  asOf: string | null;
  outboxes: DeadLetters[];
}
