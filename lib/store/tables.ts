/** The console's own tables. Columns are snake case in SQL, times ISO 8601 here; JSON arrives as text. */
import type { ColumnType, Generated } from 'kysely';
import type { Mark } from '@/lib/shared/figures/marks';
import type { VerdictSpan } from '@/lib/shared/figures/verdicts';
import type { AuditEntry } from '@/lib/shared/model';
import type { DeadLetterGroup } from '@/lib/shared/dead-letter-groups';
import type { Actor, Role } from '@/lib/shared/permissions';
import type { RunState } from '@/lib/shared/runs/runs';

export type Tier = 'minute' | 'hour' | 'day';

/** ISO 8601; filled in by the database if left out. */
type Stamp = ColumnType<string, string | undefined, string>;

type ByActor = Record<'actorId' | 'actorName', string>;

export interface StoreTables {
  account: {
    id: string;
    /** Normalised: NFKC, lower case. */
    email: string;
    passwordHash: string;
    role: Role;
    /** Incremented with every change of the account, which ends older sessions. */
    roleVersion: Generated<number>;
    createdAt: Stamp;
    disabledAt: string | null;
    lastSignInAt: string | null;
  };
  session: { sid: string; accountId: string; roleVersion: number; createdAt: Stamp; expiresAt: string; revokedAt: string | null };
  api_token: {
    id: string;
    name: string;
    role: Role;
    /** SHA-256 of the token, hex. */
    tokenHash: string;
    /** First characters, to recognise the token. */
    prefix: string;
    createdAt: Stamp;
    lastUsedAt: string | null;
    /** When it expires; null for never. */
    expiresAt: string | null;
    revokedAt: string | null;
  };
  login_attempt: {
    /** `account:<e-mail>`, `address:<ip>` or `pair:<e-mail> <place>`. */
    key: string;
    attempts: number;
    windowStartedAt: Stamp;
  };
  sign_in_place: {
    accountId: string;
    /** `address:<ip or network>` or `browser:<digest of its cookie>`. */
    place: string;
    lastAt: Stamp;
  };
  audit_entry: ByActor &
    Omit<AuditEntry, 'actor' | 'role' | 'oddities' | 'events' | 'before' | 'after'> & {
      actorRole: string;
      /** The decision that several interventions carried out; null for one alone. */
      action?: string | null;
      before: string | null;
      after: string | null;
      recordedAt: Stamp;
    };
  carried_record: { id: string; outbox: string; lines: number; carriedAt: Stamp; grownAt: ColumnType<string | null, undefined, string> };
  unsettled_intervention: Record<'id' | 'outbox' | 'actor' | 'key' | 'request' | 'at', string> & {
    /** When it turned out that it was never committed. */
    notAppliedAt: ColumnType<string | null, undefined, string>;
  };
  rollup: {
    outbox: string;
    tier: Tier | 'ever';
    series: string;
    /** Start of the slice, in minutes since the epoch; 0 for `ever`. */
    atMinute: number;
    /** Written as bytes, read as `\\x…`. */
    data: ColumnType<string, Buffer, Buffer>;
    /** Rows of transactions that are still open may be missing. */
    provisional: boolean;
  };
  collector_lease: {
    outbox: string;
    owner: string;
    /** Incremented for every new owner; bigint as text. */
    epoch: string;
    expiresAt: string;
  };
  /** Outboxes that operators have changed. */
  acted: Record<'outbox' | 'firstAt' | 'lastAt', string>;
  collector_state: { outbox: string; epoch: string; state: string; memory: string | null; updatedAt: Stamp };
  verdict_span: VerdictSpan;
  mark: ByActor &
    Pick<Mark, 'id' | 'at' | 'kind' | 'text' | 'outbox' | 'url'> &
    Record<'idempotencyKey' | 'removedAt', string | null> & { requestHash: string; createdAt: Stamp };
  cause: Record<'outbox' | 'fingerprint' | 'sums' | 'samples', string> &
    Record<'type' | 'error' | 'firstSeenAt' | 'lastSeenAt', string | null> &
    Record<'note' | 'noteActorId' | 'noteActorName' | 'noteAt', ColumnType<string | null, undefined, string | null>> &
    Pick<DeadLetterGroup, 'seen' | 'known' | 'count' | 'summed'> & { retrying: Generated<number> };
  cause_round: Record<'outbox' | 'beganAt' | 'endedAt', string> &
    Record<'rows' | 'others', number> & { known: 'exact' | 'estimated' | 'sampled'; movedAt: string | null };
  doctor_silence: ByActor & { outbox: string; finding: string; reason: string; at: Stamp };
  doctor_sample: Record<'outbox' | 'day' | 'data', string>;
  mapping_proof: ByActor &
    Record<'id' | 'outbox' | 'fingerprint' | 'facts' | 'document', string> & { at: Stamp; outcome: 'proven' | 'failed' | 'incomplete' };
  changes_switch: ByActor & { outbox: string; turnedOn: boolean; proofId: string | null; at: Stamp; reason: string };
  plan: ByActor &
    Record<'id' | 'outbox' | 'operation' | 'reason' | 'hash' | 'key' | 'requestHash' | 'expiresAt', string> & {
      /** JSON: PlanSource, Actor, and what the plan tells of its events. */
      source: string;
      actor: string;
      facts: string;
      count: number;
      createdAt: Stamp;
    };
  plan_chunk: { planId: string; n: number; data: ColumnType<string, Buffer, never> };
  /** What a second person says; `because`: JSON of the limits that were passed. */
  approval: Record<'planId' | 'hash' | 'because' | 'until', string> &
    Record<'actorId' | 'actorName' | 'answeredAt' | 'reason', ColumnType<string | null, undefined, string>> & {
      state: 'requested' | 'approved' | 'refused' | 'void';
      requestedAt: Stamp;
    };
  /** Of a run, its id is that of the plan; `sums`: JSON, currency → decimal text without sign. */
  spending: Record<'id' | 'outbox' | 'actorId' | 'operation' | 'sums', string> & { at: Stamp; count: number };
  run: Record<'id' | 'planId' | 'outbox' | 'pace' | 'progress' | 'key' | 'requestHash', string> & {
    state: RunState;
    because: ColumnType<string | null, string | null | undefined, string | null>;
    /** Of the lease under which it was written last. */
    epoch: Generated<string>;
    createdAt: Stamp;
    updatedAt: Stamp;
  } & Record<'beganAt' | 'endedAt' | 'followedUntil', ColumnType<string | null, string | null | undefined, string | null>>;
  run_batch: {
    runId: string;
    n: number;
    /** Written as text, `{1,2}`. */
    positions: ColumnType<string, string, string>;
    epoch: string;
    declaredAt: Stamp;
    answeredAt: ColumnType<string | null, undefined, string>;
    interventionId: string | null;
    tookMs: number | null;
  } & Record<'outcomes' | 'fates', ColumnType<string | null, Buffer | null, Buffer | null>>;
}

/** The actor, as rows store it. */
export type Author = Pick<Actor, 'id' | 'name'>;

export const byActor = ({ id, name }: Author): ByActor => ({ actorId: id, actorName: name });
