/** The console's own tables. Columns are snake case in SQL, times ISO 8601 here; JSON arrives as text. */
import type { ColumnType, Generated } from 'kysely';
import type { Mark } from '@/lib/shared/figures/marks';
import type { VerdictSpan } from '@/lib/shared/figures/verdicts';
import type { AuditEntry } from '@/lib/shared/model';
import type { Actor, Role } from '@/lib/shared/permissions';

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
  unsettled_intervention: {
    id: string;
    outbox: string;
    actor: string;
    key: string;
    request: string;
    at: string;
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
  mark: ByActor & {
    id: string;
    at: string;
    kind: Mark['kind'];
    text: string;
    outbox: string | null;
    url: string | null;
    idempotencyKey: string | null;
    requestHash: string;
    createdAt: Stamp;
    removedAt: string | null;
  };
  doctor_silence: ByActor & { outbox: string; finding: string; reason: string; at: Stamp };
  doctor_sample: Record<'outbox' | 'day' | 'data', string>;
  mapping_proof: ByActor & {
    id: string;
    outbox: string;
    at: Stamp;
    fingerprint: string;
    outcome: 'proven' | 'failed' | 'incomplete';
    facts: string;
    document: string;
  };
  changes_switch: ByActor & { outbox: string; turnedOn: boolean; proofId: string | null; at: Stamp; reason: string };
}

/** The actor, as rows store it. */
export type Author = Pick<Actor, 'id' | 'name'>;

export const byActor = ({ id, name }: Author): ByActor => ({ actorId: id, actorName: name });
