/** Types of a proof, the test that a mapping changes its table as it says, for HTTP and the screen. */
import type { ReadOnlyReason } from './read-only';
import type { EventState, State } from '../states';

/** One difference between a mapping or table and the proven one; texts under `proof.difference.<what>`. */
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

/** Something that a rollback does not undo; texts under `proof.warning.<code>`. */
export interface ProofWarning {
  code: 'sequence' | 'outside_call' | 'untrusted_language' | 'rewritten' | 'row_security' | 'triggers_unseen';
  table: string;
  name: string | null;
  found: string | null;
}

export interface ProofCase {
  operation: string;
  state: State;
  table: string;
}

export interface ProofResult extends ProofCase {
  /** `untried`: there was no event to try it on. The first real use reads back what it changes, as every use does. */
  verdict: 'round_trips' | 'does_not' | 'untried';
  /** Why not, by texts under `proof.because` or those of a skipped event; null if it round-trips. */
  because: string | null;
  /** The columns, state or table that the code is about; never a value of an event. */
  detail: string | null;
  rows: string[];
  stateAfter: EventState | null;
  changed: string[];
  /** The statements as they ran, without values. */
  statements: string[];
  /** On a case that round-trips; texts under `proof.note.<code>`. */
  notes: { code: 'other_columns' | 'some_refused' | 'notified' | 'called'; detail: string | null }[];
}

export interface ProofTrigger extends Record<'table' | 'name' | 'calls', string> {
  timing: 'before' | 'after' | 'instead';
  events: string[];
}

/** `incomplete`: some operations are refused. `failed`: all are. */
export type ProofOutcome = 'proven' | 'failed' | 'incomplete';

/** Operations that failed from some state. `busy` does not count: proofs of an earlier release have it for a locked event. */
export function refusedBy(results: ProofResult[]): string[] {
  return [
    ...new Set(results.filter(({ verdict, because }) => verdict === 'does_not' && because !== 'busy').map(({ operation }) => operation)),
  ];
}

export function outcomeOf(results: ProofResult[]): ProofOutcome {
  const refused = refusedBy(results);
  if (results.every(({ operation }) => refused.includes(operation))) return 'failed';
  return refused.length === 0 ? 'proven' : 'incomplete';
}

/** A proof: every operation from every state that offers it. */
export interface ProofDocument extends Record<'id' | 'outbox' | 'at' | 'actor' | 'fingerprint', string> {
  outcome: ProofOutcome;
  results: ProofResult[];
  /** Operations the mapping does not offer, with the reason's code (`refusals.<code>`). */
  notOffered: { operation: string; because: string }[];
  triggers: ProofTrigger[];
  warnings: ProofWarning[];
}

export interface ProofStatus {
  outbox: string;
  whyReadOnly: ReadOnlyReason | null;
  /** False while another problem has to be solved first: `whyReadOnly`. */
  provable: boolean;
  /** False for a built-in shape whose operations are tested on a table like this one. */
  needed: boolean;
  fingerprint: string;
  cases: ProofCase[];
  triggers: ProofTrigger[];
  warnings: ProofWarning[];
  /** True if a trigger may have effects outside the transaction: then only events chosen by the operator are tried. */
  chosenOnly: boolean;
  /** The newest event of each state with a case, to choose from. */
  realEvents: Partial<Record<State, string>>;
  last: ProofDocument | null;
  /** Differences from the last proof, or from the table a built-in shape was tested on. */
  differences: ProofDifference[];
  /** Who last turned changes on or off; null if never. */
  switched: { on: boolean; at: string; actor: string; reason: string } | null;
  ready: boolean;
}
