/** What a scan of a database for outboxes answers: the words of the command line and of the screen. */
import type { EngineKey, OutboxEvent } from './model';
import type { LiveState } from './states';

/** `certain`: columns only one library has. `likely`: name and columns of a known layout. `possible`: it resembles one. */
export const CONFIDENCES = ['certain', 'likely', 'possible'] as const;
export type Confidence = (typeof CONFIDENCES)[number];

/** Why a table is taken for an outbox; words under `detect.reasons.<code>`. */
export type ReasonCode =
  | 'columns' | 'signature' | 'name' | 'name_word' | 'companions' | 'schema' | 'role_payload' | 'role_type' | 'role_aggregate'
  | 'role_created' | 'progress_time' | 'progress_flag' | 'progress_status' | 'claims' | 'rows_vanish'; // prettier-ignore

/** What a person should know before the mapping is used; words under `detect.cautions.<code>`. */
export type CautionCode =
  | 'other_name' | 'other_words' | 'words_to_confirm' | 'row_security' | 'not_readable' | 'no_key' | 'no_created_at'
  | 'rows_vanish' | 'time_zone' | 'assumed' | 'job_queue' | 'inbox' | 'dead_letters' | 'close'; // prettier-ignore

export interface DetectionNote<Code extends string> {
  code: Code;
  values: Record<string, string | number>;
}
export type Reason = DetectionNote<ReasonCode>;
export type Caution = DetectionNote<CautionCode>;

/** Why something could not be read; words under `detect.failures.<code>`. */
export type DetectionFailureCode =
  | 'connection' | 'login' | 'no_database' | 'tls_none' | 'tls_required' | 'tls_untrusted' | 'timeout' | 'no_privilege'
  | 'missing' | 'outdated' | 'mapping' | 'other'; // prettier-ignore
export interface DetectionFailure {
  code: DetectionFailureCode;
  /** What the configuration's checks say of a mapping, or the server's code; null where there is nothing to add. */
  detail: string | null;
}

export interface CandidateCompanion {
  table: string;
  purpose: 'dead' | 'archive' | 'other';
}

export interface Candidate {
  /** `schema.table`, for people and for telling candidates apart. */
  table: string;
  /** The two parts in the catalogue's own spelling. */
  name: { schema: string; table: string };
  shape: string | null;
  label: string | null;
  /** What kind of table it is: only an outbox is one of ours, the others are set apart. */
  family: 'outbox' | 'inbox' | 'job_queue' | 'dead_letters';
  confidence: Confidence;
  /** 0 to 1: for ordering candidates of one confidence. */
  score: number;
  reasons: Reason[];
  cautions: Caution[];
  companions: CandidateCompanion[];
  /** Other built-in shapes that fit, best first. */
  alternatives: { shape: string; label: string; confidence: Confidence }[];
  estimatedRows: number | null;
  /** Id of the outbox that the configuration has for this table already. */
  configuredAs: string | null;
}

export interface Detection {
  database: string;
  engine: EngineKey;
  tables: number;
  /** There were more tables than one scan reads. */
  cut: boolean;
  /** Most certain first. */
  candidates: Candidate[];
}

export interface StatusWord {
  word: string;
  /** Rows of the sample that hold it; 0 where only an index or the statistics know it. */
  rows: number;
  state: LiveState | null;
  /** True where the word itself leaves no doubt; otherwise a person says what it means. */
  sure: boolean;
}

export interface MappedRole {
  role: string;
  column: string;
  /** The column's type as the server prints it; null where the role is no plain column. */
  type: string | null;
}

export interface Sample {
  /** `payload`: with every value hidden, cut short; null where there is none to show. */
  rows: { event: OutboxEvent; payload: string | null }[];
  looked: number;
  /** Rows that fit no state, of those read. */
  unmapped: number;
  /** The table shows no state at all: its relay reads the database's log. */
  stateless: boolean;
}

/** A candidate examined: its mapping, rows read through it, and what to paste. */
export interface Examination {
  candidate: Candidate;
  roles: MappedRole[];
  /** The column that holds the state as words, with the words; null where none does. */
  status: { column: string; words: StatusWord[]; complete: boolean } | null;
  /** The newest rows as the mapping reads them; more of them are counted than shown. */
  sample: Sample | null;
  problem: DetectionFailure | null;
  yaml: string;
}
