/** Proving that a mapping changes its table as it says, in the words of the HTTP surface and the screen. */
import type { ReadOnlyReason } from './read-only';
import type { EventState, State } from '../states';

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

/** What the operator should know although a case round-trips; words under `proof.note.<code>`. */
export const PROOF_NOTES = ['other_columns', 'some_refused', 'notified', 'called'] as const;
export type ProofNote = (typeof PROOF_NOTES)[number];

/** Something that is not taken back when a transaction is; words under `proof.warning.<code>`. */
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
  /** `untried`: no event said anything yet, and the first use reads back what it changes as every use does. */
  verdict: 'round_trips' | 'does_not' | 'untried';
  /** Why not, in words under `proof.because` or those of a skipped event; null when it round-trips. */
  because: string | null;
  /** The columns, the state or the table the code is about; never a value of an event. */
  detail: string | null;
  rows: string[];
  stateAfter: EventState | null;
  changed: string[];
  /** The statements as they ran, values left out. */
  statements: string[];
  notes: { code: ProofNote; detail: string | null }[];
}

export interface ProofTrigger {
  table: string;
  name: string;
  timing: 'before' | 'after' | 'instead';
  events: string[];
  calls: string;
}

/** `incomplete`: operations are refused, and others are not. `failed`: nothing is left. */
export type ProofOutcome = 'proven' | 'failed' | 'incomplete';

/** Operations that did not do what they say from some state. Proofs of an earlier release call an event that somebody held `busy`. */
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

/** A proof: every operation from every state it is offered for. */
export interface ProofDocument {
  id: string;
  outbox: string;
  at: string;
  actor: string;
  fingerprint: string;
  outcome: ProofOutcome;
  results: ProofResult[];
  /** Operations the mapping does not offer, with the code of why (`refusals.<code>`). */
  notOffered: { operation: string; because: string }[];
  triggers: ProofTrigger[];
  warnings: ProofWarning[];
}

export interface ProofStatus {
  outbox: string;
  whyReadOnly: ReadOnlyReason | null;
  /** False while something else has to be put right first: `whyReadOnly`. */
  provable: boolean;
  /** False for a shape whose operations run in our tests, on a table like the one they run on. */
  needed: boolean;
  fingerprint: string;
  cases: ProofCase[];
  triggers: ProofTrigger[];
  warnings: ProofWarning[];
  /** True where a trigger may reach outside: only chosen events are tried then. */
  chosenOnly: boolean;
  /** The newest event of each state with a case, to choose. */
  realEvents: Partial<Record<State, string>>;
  last: ProofDocument | null;
  /** What is different from the last proof, or from the table a built-in shape was tested on. */
  differences: ProofDifference[];
  /** Who turned changes on or off last; null when nobody has. */
  switched: { on: boolean; at: string; actor: string; reason: string } | null;
  ready: boolean;
}
