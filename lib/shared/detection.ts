/** Results of scanning a database for outboxes, for the command line and the screen. */
import type { EngineKey, OutboxEvent } from './model';
import type { LiveState } from './states';

/** `certain`: columns only one library has. `likely`: name and columns of a known layout. `possible`: it resembles one. */
export const CONFIDENCES = ['certain', 'likely', 'possible'] as const;
export type Confidence = (typeof CONFIDENCES)[number];

/** Why a table looks like an outbox; texts under `detect.reasons.<code>`. */
export type ReasonCode =
  | 'columns' | 'signature' | 'name' | 'name_word' | 'companions' | 'schema' | 'role_payload' | 'role_type' | 'role_aggregate'
  | 'role_created' | 'progress_time' | 'progress_flag' | 'progress_status' | 'claims' | 'rows_vanish'; // prettier-ignore

/** What to know before using the mapping; texts under `detect.cautions.<code>`. */
export type CautionCode =
  | 'other_name' | 'other_words' | 'words_to_confirm' | 'row_security' | 'not_readable' | 'no_key' | 'no_created_at'
  | 'rows_vanish' | 'time_zone' | 'assumed' | 'job_queue' | 'inbox' | 'dead_letters' | 'close'
  | 'dead_copies' | 'dead_others'; // prettier-ignore

export interface DetectionNote<Code extends string> {
  code: Code;
  values: Record<string, string | number>;
}
export type Reason = DetectionNote<ReasonCode>;
export type Caution = DetectionNote<CautionCode>;

/** Why something could not be read; texts under `detect.failures.<code>`. */
export type DetectionFailureCode =
  | 'connection' | 'login' | 'no_database' | 'tls_none' | 'tls_required' | 'tls_untrusted' | 'timeout' | 'no_privilege'
  | 'missing' | 'outdated' | 'mapping' | 'other'; // prettier-ignore
export interface DetectionFailure {
  code: DetectionFailureCode;
  /** The error of the configuration's checks, or the server's code; null if there is none. */
  detail: string | null;
}

export interface CandidateCompanion {
  table: string;
  purpose: 'dead' | 'archive' | 'other';
}

export interface Candidate {
  /** `schema.table`, to show and to identify candidates. */
  table: string;
  /** Schema and table as the catalogue spells them. */
  name: { schema: string; table: string };
  shape: string | null;
  label: string | null;
  /** Kind of table; only `outbox` is for the console, others are listed apart. */
  family: 'outbox' | 'inbox' | 'job_queue' | 'dead_letters';
  confidence: Confidence;
  /** 0 to 1, orders candidates of one confidence. */
  score: number;
  reasons: Reason[];
  cautions: Caution[];
  companions: CandidateCompanion[];
  /** Other built-in shapes that fit, best first. */
  alternatives: { shape: string; label: string; confidence: Confidence }[];
  estimatedRows: number | null;
  /** The rows are counted, not estimated. */
  counted: boolean;
  configuredAs: string | null;
}

export interface Detection {
  database: string;
  engine: EngineKey;
  tables: number;
  cut: boolean;
  /** Most certain first. */
  candidates: Candidate[];
}

export interface StatusWord {
  word: string;
  /** Rows of the sample with this word; 0 if it comes from an index or the statistics only. */
  rows: number;
  state: LiveState | null;
  /** True if the word itself is unambiguous; otherwise a person has to confirm its state. */
  sure: boolean;
}

export interface MappedRole {
  role: string;
  column: string;
  /** The column's type as the server prints it; null if the role is not a plain column. */
  type: string | null;
}

/** Of the rows that were `looked` at: how many are of the dead-letter table, and how many match no state. */
export interface Sample extends Record<'looked' | 'dead' | 'unmapped', number> {
  /** `payload`: cut, with every value masked; null if there is none to show. */
  rows: { event: OutboxEvent; payload: string | null }[];
  /** The tables have no other rows. */
  all: boolean;
  /** The table has no state: its relay reads the database's log. */
  stateless: boolean;
}

export interface Examination {
  candidate: Candidate;
  roles: MappedRole[];
  /** The column that holds the state as words, with the words; null if none does. */
  status: { column: string; words: StatusWord[]; complete: boolean; looked: number } | null;
  /** The newest rows as the mapping reads them; it counts more than it shows. */
  sample: Sample | null;
  problem: DetectionFailure | null;
  yaml: string;
}
