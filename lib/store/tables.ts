/** The console's own tables. Their columns are in snake case there, their times ISO 8601 here; JSON arrives as text. */
import type { ColumnType, Generated } from 'kysely';
import type { Mark } from '@/lib/shared/figures/marks';
import type { AuditEntry } from '@/lib/shared/model';
import type { Role } from '@/lib/shared/permissions';

export type Tier = 'minute' | 'hour' | 'day';

/** Filled in by the database when left out; ISO 8601 when given. */
type Stamp = ColumnType<string, string | undefined, string>;

export interface AccountTable {
  id: string;
  /** Normalised: NFKC, small letters. */
  email: string;
  passwordHash: string;
  role: Role;
  /** Rises with every change of role or password, so that older sessions end. */
  roleVersion: Generated<number>;
  createdAt: Stamp;
  disabledAt: string | null;
  lastSignInAt: string | null;
}

export interface SessionTable {
  sid: string;
  accountId: string;
  roleVersion: number;
  createdAt: Stamp;
  expiresAt: string;
  revokedAt: string | null;
}

export interface ApiTokenTable {
  id: string;
  name: string;
  role: Role;
  /** SHA-256 of the token, hex. */
  tokenHash: string;
  /** First characters, to recognise it by. */
  prefix: string;
  createdAt: Stamp;
  lastUsedAt: string | null;
  /** When it ends by itself; null for never. */
  expiresAt: string | null;
  revokedAt: string | null;
}

export interface SignInPlaceTable {
  accountId: string;
  /** `address:<ip or network>` or `browser:<digest of its cookie>`. */
  place: string;
  lastAt: Stamp;
}

export interface LoginAttemptTable {
  /** `account:<e-mail>`, `address:<ip>` or `pair:<e-mail> <place>`. */
  key: string;
  attempts: number;
  windowStartedAt: Stamp;
}

export interface AuditEntryTable {
  id: string;
  at: string;
  actorId: string;
  actorName: string;
  actorRole: string;
  operation: string;
  outbox: string | null;
  eventId: string | null;
  eventType: string | null;
  aggregateId: string | null;
  reason: string;
  outcome: AuditEntry['outcome'];
  code: string | null;
  interventionId: string | null;
  before: string | null;
  after: string | null;
  recordedAt: Stamp;
}

export interface CarriedRecordTable {
  id: string;
  outbox: string;
  lines: number;
  carriedAt: Stamp;
  grownAt: ColumnType<string | null, undefined, string>;
}

export interface UnsettledInterventionTable {
  id: string;
  outbox: string;
  actor: string;
  key: string;
  request: string;
  at: string;
  /** When it was found never to have been committed. */
  notAppliedAt: ColumnType<string | null, undefined, string>;
}

export interface RollupTable {
  outbox: string;
  tier: Tier | 'ever';
  series: string;
  /** Minutes since the epoch at which the slice begins; 0 for `ever`. */
  atMinute: number;
  /** Written as bytes, read as `\\x…`. */
  data: ColumnType<string, Buffer, Buffer>;
  /** Rows of transactions that are still open may be missing. */
  provisional: boolean;
}

export interface CollectorLeaseTable {
  outbox: string;
  owner: string;
  /** Rises with every new owner; bigint as text. */
  epoch: string;
  expiresAt: string;
}

export interface CollectorStateTable {
  outbox: string;
  epoch: string;
  state: string;
  memory: string | null;
  updatedAt: Stamp;
}

export interface MarkTable {
  id: string;
  at: string;
  kind: Mark['kind'];
  text: string;
  outbox: string | null;
  url: string | null;
  actorId: string;
  actorName: string;
  idempotencyKey: string | null;
  requestHash: string;
  createdAt: Stamp;
  removedAt: string | null;
}

export interface DoctorSilenceTable {
  outbox: string;
  finding: string;
  reason: string;
  actorId: string;
  actorName: string;
  at: Stamp;
}

export interface DoctorSampleTable {
  outbox: string;
  day: string;
  data: string;
}

export interface MappingProofTable {
  id: string;
  outbox: string;
  at: Stamp;
  actorId: string;
  actorName: string;
  fingerprint: string;
  outcome: 'proven' | 'failed' | 'incomplete';
  facts: string;
  document: string;
}

export interface ChangesSwitchTable {
  outbox: string;
  turnedOn: boolean;
  proofId: string | null;
  at: Stamp;
  actorId: string;
  actorName: string;
  reason: string;
}

export interface StoreTables {
  account: AccountTable;
  session: SessionTable;
  api_token: ApiTokenTable;
  login_attempt: LoginAttemptTable;
  sign_in_place: SignInPlaceTable;
  audit_entry: AuditEntryTable;
  carried_record: CarriedRecordTable;
  unsettled_intervention: UnsettledInterventionTable;
  rollup: RollupTable;
  collector_lease: CollectorLeaseTable;
  collector_state: CollectorStateTable;
  mark: MarkTable;
  doctor_silence: DoctorSilenceTable;
  doctor_sample: DoctorSampleTable;
  mapping_proof: MappingProofTable;
  changes_switch: ChangesSwitchTable;
}

export const byActor = ({ id, name }: { id: string; name: string }) => ({ actorId: id, actorName: name });
