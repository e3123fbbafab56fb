/**
 * Proves that a mapping changes its table as it says: every operation from every state it is offered for, on rows that are made
 * for it or on chosen real ones, each in a transaction that is taken back.
 */
import { uuidv7 } from 'uuidv7';
import { DatabaseFailure } from '@/lib/database/failure';
import { databaseProblem } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import { fingerprintOf } from '@/lib/outbox/proof-facts';
import { readOnlyAdvice, requireSameTables } from '@/lib/outbox/read-only';
import { Problem } from '@/lib/shared/problems';
import type { ReadOnlyReason } from '@/lib/shared/read-only';
import type { ProofDocument, ProofOutcome, ProofResult } from '@/lib/shared/proofs';
import { openWorkshop, type Workshop } from './bench';
import { carryOut } from './trial';
import { notOffered, trialsOf, triggersOf, warningsOf, type Trial } from './survey';

export interface ProofOptions {
  /** Chosen events, for states of which no row can be made. */
  events: string[];
  /** A login of the table's owner for making rows, where the operator may not; null without. */
  ownerUrl: string | null;
  actor: string;
}

/** More real events than there are states are a mistake. */
export const PROOF_EVENTS_MAX = 12;

/** What stands in the way of proving at all, rather than of changing. */
const FIRST = ['no_operator_url', 'no_primary_key', 'not_transactional', 'not_installed', 'companions_out_of_date', 'no_grant'] as const;

/** What has to be put right before a proof makes sense; null when nothing. */
export function hindrance(outbox: Pick<Outbox, 'whyReadOnly'>): ReadOnlyReason | null {
  return FIRST.find((why) => why === outbox.whyReadOnly) ?? null;
}

/**
 * Runs the proof; nothing of it remains in the database. Locks are held no longer than an intervention holds them.
 * Throws Problem: `read_only` when something has to be put right first, `timeout`, `unavailable`.
 */
export async function prove(outbox: Outbox, options: ProofOptions): Promise<ProofDocument> {
  const first = hindrance(outbox);
  if (first !== null)
    throw new Problem('read_only', `Outbox ${outbox.id} cannot be proven yet (${first}): ${readOnlyAdvice(outbox.id, first)}`, {
      because: first,
    });
  const trials = trialsOf(outbox);
  const workshop = await opened(outbox, options.ownerUrl);
  try {
    const results: ProofResult[] = [];
    for (const trial of trials) results.push(await tryOne(outbox, workshop, trial, options.events));
    return {
      id: uuidv7(),
      outbox: outbox.id,
      at: new Date().toISOString(),
      actor: options.actor,
      fingerprint: fingerprintOf(outbox.proof.facts),
      outcome: outcomeOf(results),
      ran: workshop.makers,
      results,
      notOffered: notOffered(outbox),
      triggers: triggersOf(outbox),
      warnings: warningsOf(outbox),
    };
  } finally {
    await workshop.close();
  }
}

/** A row that somebody holds, or of which there is none, says nothing about the mapping. */
function outcomeOf(results: ProofResult[]): ProofOutcome {
  if (results.some(({ verdict, because }) => verdict === 'does_not' && because !== 'busy')) return 'failed';
  return results.length > 0 && results.every(({ verdict }) => verdict === 'round_trips') ? 'proven' : 'incomplete';
}

async function opened(outbox: Outbox, ownerUrl: string | null): Promise<Workshop> {
  try {
    return await openWorkshop(outbox, ownerUrl);
  } catch (error) {
    throw error instanceof DatabaseFailure ? databaseProblem(error, outbox.database.id) : error;
  }
}

/** One trial in a transaction of its own, so that no lock is held from one to the next. */
async function tryOne(outbox: Outbox, workshop: Workshop, trial: Trial, events: string[]): Promise<ProofResult> {
  let last: ProofResult | null = null;
  try {
    // Which of the chosen events is of this state is found out by looking.
    for (const real of events.length === 0 ? [null] : events) {
      last = await workshop.run(async (bench) => {
        const result = await carryOut(bench, trial, real);
        await requireSameTables(outbox, bench.db);
        return result;
      });
      if (last.verdict !== 'untried' || last.because !== 'wrong_event') break;
    }
  } catch (error) {
    throw error instanceof DatabaseFailure ? databaseProblem(error, outbox.database.id) : error;
  }
  if (last === null) throw new Error('a trial without a result');
  return last;
}
