/** Proofs in the store: what a binding needs, what a screen shows, and the switch that turns changes on. */
import { listEvents } from '@/lib/outbox/lists/list-events';
import { asMapped } from '@/lib/outbox/capabilities';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import { differences, fingerprintOf, proofFacts, type ProofFacts } from '@/lib/outbox/proof/proof-facts';
import { isProofNeeded, judgeProof, type KnownProof, type ProofSource } from '@/lib/outbox/proof/proven';
import type { Actor, Who } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { outcomeOf, refusedBy, type ProofDocument, type ProofResult, type ProofStatus } from '@/lib/shared/changes/proofs';
import type { State } from '@/lib/shared/states';
import { recordDeed } from '@/lib/store/audit';
import { changesSwitch, deleteOldProofs, insertProof, newestProof, setChangesSwitch, type StoredProof } from '@/lib/store/proofs';
import type { Store } from '@/lib/store/store';
import { whyNotProvable } from './prove';
import { reachesOutside, trialsOf, triggersOf, warningsOf } from './survey';

type Kept = Pick<Store, 'db'>;
type Bindings = Pick<OutboxDirectory, 'forget'>;
type Turn = { on: boolean; reason: string };

/** A stored proof; those of earlier releases have no `rows` and `statements`. */
function documentOf({ document }: StoredProof): ProofDocument {
  const kept = JSON.parse(document) as ProofDocument;
  return {
    ...kept,
    results: kept.results.map((result) => ('rows' in result ? result : { ...(result as ProofResult), rows: [], statements: [] })),
  };
}

export const proofSource =
  (store: Kept): ProofSource =>
  async (outboxId) =>
    knownFrom(await keptOf(store, outboxId));

async function keptOf({ db }: Kept, outboxId: string) {
  const [switched, last] = await Promise.all([changesSwitch(db, outboxId), newestProof(db, outboxId)]);
  return { switched, last };
}

function knownFrom({ switched, last }: Awaited<ReturnType<typeof keptOf>>): KnownProof {
  const facts = factsOf(last?.facts ?? null);
  const results = last === null ? [] : documentOf(last).results;
  return {
    switched: switched === null ? null : { on: switched.on, facts: factsOf(switched.facts) },
    decided: facts && results.length > 0 ? { passed: outcomeOf(results) !== 'failed', refused: refusedBy(results), facts } : null,
  };
}

function factsOf(json: string | null): ProofFacts | null {
  if (json === null) return null;
  const facts = JSON.parse(json) as ProofFacts;
  // Written by another version: whether it still holds is not known.
  return (facts.version as number) === 1 ? facts : null;
}

/** Stores a proof, with its audit entry; the next binding uses it. */
export async function keepProof(store: Kept, directory: Bindings, outbox: Outbox, document: ProofDocument, actor: Who): Promise<void> {
  const { id, fingerprint, outcome } = document;
  await store.db.transaction().execute(async (db) => {
    const texts = { facts: JSON.stringify(proofFacts(outbox)), document: JSON.stringify(document) };
    await insertProof(db, { id, outbox: outbox.id, fingerprint, outcome, actor, ...texts });
    await deleteOldProofs(db, outbox.id);
    const passed = outcome !== 'failed';
    const told = { proof: id, fingerprint, outcome };
    await recordDeed(db, actor, { operation: 'prove', outbox: outbox.id, outcome: passed ? 'applied' : 'none', after: told });
  });
  directory.forget(outbox.id);
}

/** Everything the proof page shows. Reads the table only for the newest event of each state. */
export async function proofStatus(store: Kept, outbox: Outbox): Promise<ProofStatus> {
  const kept = await keptOf(store, outbox.id);
  const { switched, last } = kept;
  const { facts, needed, differences: found, why } = judgeProof(outbox, knownFrom(kept));
  const trials = trialsOf(asMapped(outbox));
  const lastFacts = factsOf(last?.facts ?? null);
  return {
    outbox: outbox.id,
    whyReadOnly: outbox.whyReadOnly,
    provable: whyNotProvable(outbox) === null,
    needed,
    fingerprint: fingerprintOf(facts),
    cases: trials.map(({ operation, state, table }) => ({ operation, state, table })),
    triggers: triggersOf(outbox),
    warnings: warningsOf(outbox),
    chosenOnly: reachesOutside(outbox),
    realEvents: await realEvents(outbox, [...new Set(trials.map(({ state }) => state))]),
    last: last === null ? null : documentOf(last),
    differences: found.length > 0 || lastFacts === null ? found : differences(lastFacts, facts),
    switched: switched === null ? null : { on: switched.on, at: switched.at, actor: switched.actor, reason: switched.reason },
    ready: why !== null && (!needed || holds(last, facts)),
  };
}

const holds = (proof: StoredProof | null, facts: ProofFacts): boolean =>
  proof !== null && proof.fingerprint === fingerprintOf(facts) && outcomeOf(documentOf(proof).results) !== 'failed';

/** The newest event of each state, as a suggestion; none if it cannot be read. */
async function realEvents(outbox: Outbox, states: State[]): Promise<ProofStatus['realEvents']> {
  const entries = await Promise.all(
    states.map(async (state) => {
      const page = await listEvents(outbox, { state: [state] }, { limit: 1 }).catch(() => null);
      return [state, page?.events[0]?.id] as const;
    }),
  );
  return Object.fromEntries(entries.filter(([, id]) => id !== undefined));
}

/** Turns changes on or off, with the audit entry. Throws Problem `conflict` unless the mapping and the table are proven as they are. */
export async function turnChanges(store: Kept, directory: Bindings, outbox: Outbox, request: Turn, actor: Actor): Promise<void> {
  const needed = isProofNeeded(outbox);
  await store.db.transaction().execute(async (db) => {
    const proven = request.on && needed ? await newestProof(db, outbox.id) : null;
    const unproven = proven === null || proven.outcome === 'failed';
    const why = unproven ? 'its mapping has not been proven' : 'the mapping or the table is not the one that was proven';
    if (request.on && needed && !holds(proven, proofFacts(outbox)))
      throw new Problem('conflict', `Changes of outbox ${outbox.id} cannot be turned on: ${why}. Run the proof again`);
    await setChangesSwitch(db, { outbox: outbox.id, on: request.on, proofId: proven?.id ?? null, actor, reason: request.reason });
    const operation = request.on ? 'turn_changes_on' : 'turn_changes_off';
    const after = proven && { proof: proven.id, fingerprint: proven.fingerprint };
    await recordDeed(db, actor, { operation, outbox: outbox.id, reason: request.reason, after });
  });
  directory.forget(outbox.id);
}
