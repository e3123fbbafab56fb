/** The console's own tables. Times arrive as text in UTC (`iso()`) and are written as ISO 8601; JSON arrives as text. */
import type { ColumnType, Generated } from 'kysely';
import type { Mark } from '@/lib/shared/figures/marks';
import type { AuditEntry } from '@/lib/shared/model';
import type { Role } from '@/lib/shared/permissions';

/** How wide the slices of time are that rollups are kept for. */
export type Tier = 'minute' | 'hour' | 'day';

/** Filled in by the database when left out; ISO 8601 when given. */
type Stamp = ColumnType<string, string | undefined, string>;

export interface AccountTable {
  id: string;
  /** Normalised: NFKC, small letters. */
  email: string;
  password_hash: string;
  role: Role;
  /** Rises with every change of role or password, so that older sessions end. */
  role_version: Generated<number>;
  created_at: Stamp;
  disabled_at: string | null;
  last_sign_in_at: string | null;
}

export interface SessionTable {
  sid: string;
  account_id: string;
  role_version: number;
  created_at: Stamp;
  expires_at: string;
  revoked_at: string | null;
}

export interface ApiTokenTable {
  id: string;
  name: string;
  role: Role;
  /** SHA-256 of the token, hex. */
  token_hash: string;
  /** First characters, to recognise it by. */
  prefix: string;
  created_at: Stamp;
  last_used_at: string | null;
  /** When it ends by itself; null for never. */
  expires_at: string | null;
  revoked_at: string | null;
}

export interface SignInPlaceTable {
  account_id: string;
  /** `address:<ip or network>` or `browser:<digest of its cookie>`. */
  place: string;
  last_at: Stamp;
}

export interface LoginAttemptTable {
  /** `account:<e-mail>`, `address:<ip>` or `pair:<e-mail> <place>`. */
  key: string;
  attempts: number;
  window_started_at: Stamp;
}

export interface AuditEntryTable {
  id: string;
  at: string;
  actor_id: string;
  actor_name: string;
  actor_role: string;
  operation: string;
  /** Null for what is of no single outbox. */
  outbox: string | null;
  event_id: string | null;
  event_type: string | null;
  aggregate_id: string | null;
  reason: string;
  outcome: AuditEntry['outcome'];
  code: string | null;
  intervention_id: string | null;
  before: string | null;
  after: string | null;
  recorded_at: Stamp;
}

export interface CarriedRecordTable {
  id: string;
  outbox: string;
  lines: number;
  carried_at: Stamp;
  grown_at: ColumnType<string | null, undefined, string>;
}

export interface UnsettledInterventionTable {
  id: string;
  outbox: string;
  actor: string;
  key: string;
  request: string;
  at: string;
  /** When it was found never to have been committed. */
  not_applied_at: ColumnType<string | null, undefined, string>;
}

export interface RollupTable {
  outbox: string;
  tier: Tier | 'ever';
  series: string;
  /** Minutes since the epoch at which the slice begins; 0 for `ever`. */
  at_minute: number;
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
  expires_at: string;
}

export interface CollectorStateTable {
  outbox: string;
  epoch: string;
  state: string;
  memory: string | null;
  updated_at: Stamp;
}

export interface MarkTable {
  id: string;
  at: string;
  kind: Mark['kind'];
  text: string;
  outbox: string | null;
  url: string | null;
  actor_id: string;
  actor_name: string;
  idempotency_key: string | null;
  request_hash: string;
  created_at: Stamp;
  removed_at: string | null;
}

export interface DoctorSilenceTable {
  outbox: string;
  finding: string;
  reason: string;
  actor_id: string;
  actor_name: string;
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
  actor_id: string;
  actor_name: string;
  fingerprint: string;
  outcome: 'proven' | 'failed' | 'incomplete';
  facts: string;
  document: string;
}

export interface ChangesSwitchTable {
  outbox: string;
  turned_on: boolean;
  proof_id: string | null;
  at: Stamp;
  actor_id: string;
  actor_name: string;
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

/** `2026-11-21 09:49:03.123456+00` → `2026-11-21T09:49:03.123456Z`: sessions of the store speak UTC, and no digit is lost. */
export function iso(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11).replace(/\+00$/, 'Z')}`;
}
