/** Types of outboxes and events for HTTP, server actions and screens. Ids and 64-bit numbers are strings, times ISO 8601. */
import type { AuditLack, AuditOddity } from './changes/carrying';
import type { CollectorStatus } from './figures/collection';
import { type Content, type ListScope } from './lists/shown';
import type { Count, Known, Percentiles, UnavailableReason } from './figures/measured';
import type { MetricFigures, MetricSeries } from './figures/metrics';
import type { ReadOnlyReason } from './changes/read-only';
import type { ShownCode } from './problems';
import type { ApprovalLimit } from './runs/approvals';
import type { SlotHealth } from './figures/slot-health';
import type { EventState, State } from './states';
import type { Diagnosis } from './figures/verdicts';
import type { Window } from './figures/windows';

export const ENGINE_KEYS = ['postgres', 'mysql'] as const;
export type EngineKey = (typeof ENGINE_KEYS)[number];

/** An operation this outbox offers and from which states, or why it does not (`refusals.<code>`). */
export type OperationCapability = { offered: true; from: State[]; warnings: string[] } | { offered: false; because: string };

export interface Capabilities {
  /** For each state: whether this table can show it, and if not, why. */
  states: Record<State, { available: true } | { available: false; because: UnavailableReason }>;
  operations: Record<string, OperationCapability>;
  /** The relay keeps the order within a key: an unpublished event blocks later ones of its aggregate. */
  keepsOrder: boolean;
  fields: Record<
    EventTime | keyof Claim | 'topic' | 'aggregate' | 'attempts' | 'error' | 'dedupKey' | 'traceId' | 'headers' | 'amount',
    boolean
  >;
}

export interface OutboxInfo extends Record<'id' | 'name' | 'database' | 'table', string> {
  engine: EngineKey;
  /** Key of the shape, or `inline`. */
  shape: string;
  capabilities: Capabilities;
  writable: boolean;
  whyReadOnly: ReadOnlyReason | null;
  runbook: string | null;
}

/** Texts of an event that have a role of the same name. */
export const ROLE_TEXTS = ['type', 'topic', 'aggregateType', 'aggregateId', 'error', 'dedupKey', 'traceId'] as const;
/** Texts of an event that can be read out of its payload or headers, and so be masked there. */
export type EventText = (typeof ROLE_TEXTS)[number] | 'amount' | 'currency';
/** `diedAt` of dead events alone: when the relay gave up, or tried last. */
type EventTime = 'createdAt' | 'publishedAt' | 'lastAttemptAt' | 'diedAt';

export interface OutboxEvent extends Record<EventText | EventTime, string | null> {
  id: string;
  state: EventState;
  /** The library's own word for the state; null if it has none or it equals the state. */
  stateLabel: string | null;
  attempts: number | null;
  maxAttempts: number | null;
  /** Parts of its payload, such as the amount, are null because lists do not read payloads above 256 kB. */
  tooLarge: boolean;
  /** Opaque version that an intervention sends back. null for roles that may change nothing, as it depends on masked values. */
  version: string | null;
}

/** As read from the database, and as roles that may change it get it. */
export type VersionedEvent = OutboxEvent & { version: string };

/** From when on an event may be tried, and until when (in the past: expired) and by whom it is claimed; null if table or row do not say. */
export type Claim = Record<'availableAt' | 'lockedUntil' | 'lockedBy', string | null>;

/** `blocked`: waits behind an earlier unpublished event of its key. `overtaken`: a later one is already published. */
export interface Neighbour extends Record<'current' | 'blocked' | 'overtaken', boolean> {
  event: OutboxEvent;
}

export type EventLink = Record<'label' | 'url', string>;

export interface EventDetail {
  asOf: string;
  event: OutboxEvent;
  claim: Claim;
  payload: Content;
  headers: Content | null;
  neighbours: Neighbour[];
  /** False if there may be more: without an index on the aggregate only events around this one were read. */
  neighboursComplete: boolean;
  /** How many others wait because nothing gets past it; null if it is not known to hold any up. */
  blocks: Count | null;
  /** Newest first. */
  interventions: AuditEntry[];
  /** By id of an intervention's entry: the attempts until then and the error of the last, as its record has them. */
  triedBefore: Record<string, { attempts: string | null; error: string | null }>;
  links: EventLink[];
  /** Warnings of the shape, e.g. `may_already_be_out`; texts under `warnings.<code>`. */
  warnings: string[];
  /** Whether each operation is allowed on this event now; `because` is then null, otherwise a skip code or a refusal. */
  operations: Record<string, { allowed: boolean; because: string | null; warnings: string[] }>;
  /** Who archived it, when and why, and its state before; null unless archived. */
  archived: { at: string; by: string; reason: string; fromState: State; interventionId: string } | null;
}

/** An event's page now, without content that the client already has; `contentKey` identifies that content. */
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
  /** An error's text as the viewer sees it, or its template: finds dead events of the same cause. */
  cause?: string;
  /** ISO 8601, inclusive, on creation time. */
  from?: string;
  /** ISO 8601, exclusive, on creation time. */
  to?: string;
  order?: 'newest' | 'oldest';
}

export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 200;

export interface EventPage<E extends OutboxEvent = OutboxEvent> extends ListScope, Record<'nextCursor' | 'previousCursor', string | null> {
  asOf: string;
  events: E[];
}

export interface TypeFigures extends Record<'waiting' | 'dead' | 'retries' | 'errors' | 'p95Ms', number | null> {
  type: string;
  /** Of each figure that is null. */
  why?: Partial<Record<Exclude<keyof TypeFigures, 'type' | 'why'>, UnavailableReason>>;
}

export interface Summary extends MetricFigures {
  asOf: string;
  /** Start of counting: the whole minute before the window, or the whole hour if the window is days; ISO 8601 UTC. */
  from: string;
  window: Window;
  /** How far the past has been read, newest first, while part of the window is still to be read; null otherwise. */
  backfill: CollectorStatus['backfill'];
  depth: { pending: Count; retrying: Count; processing: Count; dead: Count; waiting: Count };
  oldestPendingAt: string | null;
  lastPublishedAt: string | null;
  /** Only where there is no such time; `no_events`: nothing was ever published. */
  lastPublishedWhy?: UnavailableReason;
  /** Of events that no operator changed; `touched` of those that operators did. */
  latency: Percentiles & {
    count: number | null;
    meanMs: number | null;
    /** Where the mean is worked out from how many wait, without the times of rows: how far it may be off. Left out where not known. */
    meanErrorMs?: number;
    /** `estimated`, as percentiles are, or `sampled`: those that were seen waiting, of which there may be more. */
    touched: { count: number | null; p95Ms: number | null; known: Known };
  };
  processing: Percentiles;
  /** Per minute of the part of the window that is known. */
  throughput: Pick<Count, 'known' | 'why'> & {
    createdPerMinute: number | null;
    publishedPerMinute: number | null;
    /** When that part begins, if that is after `from`. */
    since?: string;
  };
  byType: TypeFigures[];
  /** For an outbox whose rows do not show what is published; null for others, and before it has been read. */
  slot: SlotHealth | null;
  diagnosis: Diagnosis;
}

type StepValue = MetricSeries | 'waiting' | 'dead' | 'created' | 'published' | 'p50Ms' | 'p95Ms' | 'p99Ms';

/** `oldestAgeMs`: of the oldest waiting event, at most in the step. `latencyCount`: of the events behind the percentiles. */
export type SeriesValues = Record<StepValue | 'oldestAgeMs' | 'latencyCount', number | null>;

export interface SeriesPoint extends SeriesValues {
  at: string;
  /** Events by duration: a count per bound of `heatBoundsMs`, and one for longer ones; null if unknown. */
  heat: number[] | null;
  /** Not collected, and no longer readable from the rows: a gap, not a zero. */
  gap: boolean;
  /** Rows of open transactions may still be missing. */
  provisional: boolean;
}

/** A line of a series, or lines that share how they are known. */
export type SeriesLine = 'waiting' | 'dead' | 'created' | 'published' | 'errors' | 'latency';

export interface Series {
  asOf: string;
  /** null for a custom span. */
  window: Window | null;
  /** null for all event types. */
  type: string | null;
  stepSeconds: number;
  points: SeriesPoint[];
  known: Record<SeriesLine, Known>;
  /** Why a line has no values, if its `known` is `unavailable`. */
  why: Partial<Record<SeriesLine, UnavailableReason>>;
  heatBoundsMs: number[];
}

/** timeout: the reading took too long. unavailable: database unreachable. unreadable: it cannot be read. store: the store is down. */
export type StaleProblem = 'timeout' | 'unavailable' | 'unreadable' | 'store';

/** An outbox with its figures; `summary` is the last good one while the database cannot be read. */
export interface OutboxReading {
  outbox: OutboxInfo;
  summary: Summary;
  /** null until the collector's first tick for this outbox. */
  collector: CollectorStatus | null;
  /** Set if the last good reading is older than requested: since when, and what failed. */
  stale: { since: string; problem: StaleProblem } | null;
}

export interface OutboxSnapshot extends OutboxReading {
  asOf: string;
  series: Series;
}

/** What the dead events of a group have in common; errors are compared by their template. */
export type Cause = Pick<OutboxEvent, 'type' | 'error'>;

/** An event as it was seen, reduced to what a later intervention needs. */
export type FrozenEvent = Pick<VersionedEvent, 'id' | 'version' | 'state' | 'amount' | 'currency'> & { maxAttempts?: number | null };

// prettier-ignore
export const SKIP_CODES = [
  'changed_since_seen', 'being_processed', 'already_published', 'wrong_state', 'locked', 'not_found', 'not_supported', 'too_young',
  'already_exists', 'did_not_take',
] as const;
export type SkipCode = (typeof SKIP_CODES)[number];

export interface Skipped {
  id: string;
  code: SkipCode;
  /** What the row has now, for the message: state, publishing time, or the refusal's reason and its subject. */
  detail?: { state?: EventState; at?: string | null; because?: string; of?: string };
}

export type Outcome = 'applied' | 'partly' | 'none' | 'unknown';

/** An event's id and its version on the operator's screen; '' if the version is still to be read (undo). */
export type SeenEvent = Record<'id' | 'version', string>;

export interface InterventionRequest {
  operation: string;
  /** 1 to 200 distinct events, each with the version the operator saw. */
  events: SeenEvent[];
  reason: string;
}

/** More events than this are a plan. */
export const INTERVENTION_EVENTS_MAX = 200;
export const REASON_MIN = 3;
export const REASON_MAX = 500;

export interface InterventionResult extends Record<'interventionId' | 'outbox' | 'operation' | 'reason' | 'actor', string> {
  at: string | null;
  outcome: Outcome;
  changed: string[];
  skipped: Skipped[];
  undo: string | null;
}

/** What an operation would do, for the confirm dialog; nothing is changed. */
export interface InterventionPreview {
  outbox: string;
  operation: string;
  rows: { event: VersionedEvent; allowed: boolean; code: SkipCode | null; because: string | null }[];
  allowed: number;
  /** Each with how many of the allowed events it is about; `orderNotLooked`: no index leads to their aggregates, or it took too long. */
  warnings: { code: string; count: number }[];
  orderNotLooked?: boolean;
  /** Why a second person has to agree; null where nobody is asked. */
  approval?: { because: ApprovalLimit[]; nobody: boolean } | null;
  /** The statements that will run, with numbered parameters, and their values. */
  sql: { text: string; parameters: string[] }[];
}

type AuditText = 'id' | 'at' | 'actor' | 'role' | 'operation' | 'reason';

export interface AuditEntry
  extends Record<AuditText, string>, Record<'eventId' | 'eventType' | 'aggregateId' | 'interventionId', string | null> {
  /** null for entries of no single outbox: sign-ins, accounts, tokens, marks on all charts. */
  outbox: string | null;
  /** `none`: skipped. `code` has the reason for `none` and `refused`. */
  outcome: 'applied' | 'none' | 'refused' | 'unknown';
  /** A skip code, or the problem code of a refusal. */
  code: string | null;
  /** Columns before and after as text, without the payload; null if there are none. */
  before: Record<string, string | null> | null;
  after: Record<string, string | null> | null;
  oddities: AuditOddity[];
  /** Of the first line of an action, where lines are listed by action. */
  events?: { changed: number; left: number };
}

/** `on` outboxes: without sign-ins, accounts and tokens. */
export type AuditFilter = Partial<Record<'outbox' | 'event' | 'actor' | 'operation' | 'action' | 'outcome' | 'on' | 'from' | 'to', string>>;

export interface AuditPage {
  asOf: string;
  entries: AuditEntry[];
  nextCursor: string | null;
  lacks: AuditLack[];
}

/** What the events screen polls: a page of events, or why there is none (the filter reads too much, the database is unreachable). */
export interface EventsSnapshot {
  asOf: string | null;
  page: EventPage | null;
  blocking?: { id: string; others: Count } | null;
  problem: { code: ShownCode; reference?: string } | null;
}
