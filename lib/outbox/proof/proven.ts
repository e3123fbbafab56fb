/** Whether an outbox's mapping is proven to change its table as it says. */
import type { ReadOnlyReason } from '@/lib/shared/changes/read-only';
import type { ProofDifference } from '@/lib/shared/changes/proofs';
import type { EngineKey } from '@/lib/shared/model';
import { tableLabel, type FoundOutbox, type Outbox } from '../outbox';
import type { Place } from '@/lib/shape/bound';
import { difference, differences, proofFacts, type ProofFacts, type ProvenTable } from './proof-facts';
import provenTables from './proven-tables.json' with { type: 'json' };

/** By shape and engine: the tables its operations are tested on. */
const PROVEN_TABLES: Record<string, Partial<Record<EngineKey, { main: ProvenTable; dead: ProvenTable | null }>>> = provenTables;

export interface KnownProof {
  /** The last time changes were turned on or off, and the facts proven then; `facts` is null if no proof was needed. */
  switched: { on: boolean; facts: ProofFacts | null } | null;
  /** The newest proof; `passed` if at least one operation may be used. */
  decided: { passed: boolean; refused: string[]; facts: ProofFacts } | null;
}

export const NO_PROOF: KnownProof = { switched: null, decided: null };

export type ProofSource = (outboxId: string) => Promise<KnownProof>;

export interface ProofState {
  needed: boolean;
  facts: ProofFacts;
  /** Differences from the proven facts, or from the table that a built-in shape is tested on. */
  differences: ProofDifference[];
  /** Operations that failed their proof with this table and mapping; the others read back what they change. */
  refused: string[];
  why: ReadOnlyReason | null;
}

/** False for a shape whose operations our tests run on a table like this one. */
export const isProofNeeded = (outbox: FoundOutbox): boolean => untestedTraits(outbox)?.length !== 0;

/** Judges a mapping by the switch, by the proof it was turned on with, or by our tests. `known`: null if the store does not answer. */
export function judgeProof(outbox: FoundOutbox, known: KnownProof | null): ProofState {
  const facts = proofFacts(outbox);
  const deviations = untestedTraits(outbox);
  const needed = deviations?.length !== 0;
  const { switched = null, decided = null } = known ?? {};
  const current = decided !== null && differences(decided.facts, facts).length === 0 ? decided : null;
  const state = { needed, facts, differences: [], refused: current?.refused ?? [] };
  if (known === null) return { ...state, why: 'proof_unknown' };
  if (switched?.on === false) return { ...state, why: 'changes_off' };
  if (current?.passed === false) return { ...state, why: 'proof_failed' };
  if (!needed) return { ...state, why: null };
  const basis = switched?.facts ?? (decided?.passed === true ? decided.facts : null);
  if (basis === null) return { ...state, differences: deviations ?? [], why: deviations === null ? 'mapping_not_proven' : 'table_differs' };
  const found = differences(basis, facts);
  const remapped = found.some(({ what }) => what === 'mapping' || what === 'database');
  if (found.length > 0) return { ...state, differences: found, why: remapped ? 'mapping_changed' : 'table_changed' };
  return { ...state, why: switched?.on === true ? null : 'changes_off' };
}

/** What this table has that the tested one lacks, and columns of another kind; null if our tests do not run this mapping's operations. */
function untestedTraits({ settings, database, shape, main, dead, rules }: FoundOutbox): ProofDifference[] | null {
  if (settings.inline || shape.proven !== 'by_tests') return null;
  const tested = PROVEN_TABLES[shape.key]?.[database.engine.key];
  if (tested === undefined) return null;
  return [...untestedTable(main, rules.main, tested.main), ...(dead === null ? [] : untestedTable(dead, rules.dead, tested.dead))];
}

function untestedTable(place: Place, rules: Outbox['rules']['dead'], tested: ProvenTable | null): ProofDifference[] {
  const of = tableLabel(place.table);
  if (tested === null) return [difference('table', of, { now: of })];
  const columns = [...place.description.columns.values()].map(({ name, generated, kind }) => ({
    name,
    was: tested.columns[name],
    now: generated ? 'generated' : kind,
  }));
  return [
    ...columns.filter(({ was, now }) => was !== undefined && was !== now).map((one) => difference('column_type', of, one)),
    ...(rules?.triggers ?? [])
      .filter(({ enabled, timing, name }) => enabled && timing !== 'after' && !tested.triggers.includes(name))
      .map(({ name }) => difference('trigger_added', of, { name })),
    ...(rules?.rewritten === true ? [difference('rewritten', of, {})] : []),
  ];
}
