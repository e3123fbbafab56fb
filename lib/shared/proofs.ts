/** Proving that a mapping changes its table as it says, in the words of the HTTP surface and the screen. */
import type { ReadOnlyReason } from './read-only';
import type { EventState, LiveState, State } from './states';

/** One way in which a mapping or a table differs from the proven one; words under `proof.difference.<what>`. */
export interface ProofDifference {
  what:
    | 'mapping'
    | 'database'
    | 'table'
    | 'column_added'
    | 'column_gone'
    | 'column_type'
    | 'keys'
    | 'trigger_added'
    | 'trigger_gone'
    | 'trigger_changed'
    | 'rewritten';
  /** The table, or the part of the mapping. */
  of: string;
  /** The column, trigger or key. */
  name: string | null;
  was: string | null;
  now: string | null;
}

/** Why a case does not round-trip, or could not be tried; words under `proof.failure.<code>`. */
export const PROOF_FAILURES = [
  'wrong_state_before',
  'wrong_state_after',
  'not_applied',
  'refused_by_table',
  'no_privilege',
  'rewritten',
  'touched_more',
  'no_row_left',
  'repeats',
  'ignores_version',
  'published_matches',
  'not_restored',
  'busy',
  'failed',
] as const;
export type ProofFailure = (typeof PROOF_FAILURES)[number];

/** Why a case was not tried: no row of that state could be made, and none was chosen; words under `proof.untried.<code>`. */
export const PROOF_UNTRIED = ['no_insert_right', 'cannot_make', 'foreign_key', 'refused_row', 'wrong_event'] as const;
export type ProofUntried = (typeof PROOF_UNTRIED)[number];

/** What the operator should know although a case round-trips; words under `proof.note.<code>`. */
export const PROOF_NOTES = ['other_columns', 'repeatable', 'notified', 'called'] as const;
export type ProofNote = (typeof PROOF_NOTES)[number];

/** Something that is not taken back when a transaction is; words under `proof.warning.<code>`. */
export interface ProofWarning {
  code: 'sequence' | 'counter' | 'outside_call' | 'untrusted_language' | 'rewritten' | 'row_security' | 'triggers_unseen';
  table: string;
  /** The trigger or column it is about. */
  name: string | null;
  /** What was found there. */
  found: string | null;
}

/** One operation on a row of one state. */
export interface ProofCase {
  operation: string;
  state: State;
  /** The table the row stands in. */
  table: string;
}

export interface ProofResult extends ProofCase {
  verdict: 'round_trips' | 'does_not' | 'untried';
  /** Code of what failed, or why it was not tried; null when it round-trips. */
  because: ProofFailure | ProofUntried | null;
  /** The column, constraint or server message the code is about; never a value of a real row. */
  detail: string | null;
  /** Whose row it was: one made for this, `copied` with values of a real one where nobody could think of any, or a real one, by id. */
  row: { made: true; copied: boolean } | { made: false; id: string } | null;
  stateBefore: EventState | null;
  stateAfter: EventState | null;
  /** The row before and after, as texts; payload and headers as digests, of a real row only what changed. */
  before: Record<string, string | null> | null;
  after: Record<string, string | null> | null;
  /** Columns whose texts are digests. Proofs that were kept before this was told have none. */
  digested?: string[];
  changed: string[];
  /** The statements as they ran. */
  statements: { text: string; parameters: string[] }[];
  notes: { code: ProofNote; detail: string | null }[];
}

/** A trigger that runs when rows of the table are changed. */
export interface ProofTrigger {
  table: string;
  name: string;
  timing: 'before' | 'after' | 'instead';
  events: string[];
  calls: string;
}

/** `proven`: every offered operation round-trips from every state. `incomplete`: nothing failed, and not everything could be tried. */
export type ProofOutcome = 'proven' | 'failed' | 'incomplete';

/** A proof: every operation from every state it is offered for. */
export interface ProofDocument {
  id: string;
  outbox: string;
  /** ISO 8601. */
  at: string;
  actor: string;
  fingerprint: string;
  outcome: ProofOutcome;
  /** Whose login made the rows and changed them. */
  ran: { rowsAs: 'operator' | 'owner'; changesAs: 'operator' | 'owner' };
  results: ProofResult[];
  /** Operations the mapping does not offer, with the code of why (`refusals.<code>`). */
  notOffered: { operation: string; because: string }[];
  triggers: ProofTrigger[];
  warnings: ProofWarning[];
}

/** Whether an outbox may be changed, as far as its proof goes. */
export interface ProofStatus {
  outbox: string;
  whyReadOnly: ReadOnlyReason | null;
  /** False while something else has to be put right first: `whyReadOnly`. */
  provable: boolean;
  /** False for a shape whose operations run in our tests, on a table like the one they run on. */
  needed: boolean;
  fingerprint: string;
  /** What a proof would try, in order. */
  cases: ProofCase[];
  triggers: ProofTrigger[];
  warnings: ProofWarning[];
  /** Newest event of each state with a case, for where no row can be made. */
  realEvents: Partial<Record<LiveState, string>>;
  last: ProofDocument | null;
  /** What is different from the last proof, or from the table a built-in shape was tested on. */
  differences: ProofDifference[];
  /** Who turned changes on or off last; null when nobody has. */
  switched: { on: boolean; at: string; actor: string; reason: string } | null;
  /** True when changes can be turned on now. */
  ready: boolean;
}
