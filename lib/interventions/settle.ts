import { uuidv7 } from 'uuidv7';
import type { Db } from '@/lib/database/description';
import { DatabaseFailure } from '@/lib/database/failure';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { within } from '@/lib/shared/async/within';
import type { ActorsKey } from './operation';
import { headerOf, insertHeader, recordedResult } from './records';

/** A try whose commit was sent and never confirmed. */
export interface Unsettled extends ActorsKey {
  id: string;
  request: InterventionRequest;
  /** ISO 8601 UTC, the console's clock. */
  at: string;
}

/** One that is remembered: still to be settled, or known never to have been committed. */
export interface Remembered {
  entry: Unsettled;
  notApplied: boolean;
}

/** Where unsettled tries are kept until the database answers: the store, and the process while the store does not take them. */
export interface UnsettledLog {
  /** Never rejects: what the store does not take now is kept until it does. */
  add(entry: Unsettled): Promise<void>;
  /** By its id; rejects when it is not known here and the store cannot be asked. */
  get(id: string): Promise<Remembered | null>;
  /** The latest of a key, one that is still to be settled before any other; rejects like `get`. */
  ofKey(key: ActorsKey): Promise<Remembered | null>;
  list(outboxes: readonly string[]): Promise<Unsettled[]>;
  /** One that was applied is forgotten: its record says all. One that was not goes to the audit. Never rejects. */
  settled(entry: Unsettled, outcome: 'applied' | 'not_applied'): Promise<void>;
}

export interface SettleDeps {
  directory: OutboxDirectory;
  unsettled: UnsettledLog;
  onRecord(outboxId: string): void;
}

const TRIES = 3;
const PAUSE_MS = 400;
/** Whoever waits for the answer of an intervention is told `unknown` rather than kept for longer. */
const ANSWER_WITHIN_MS = 5_000;

/** The record is there, it never will be, or nobody can say yet: its transaction has not ended, or nobody answers. */
export type Finding =
  { kind: 'applied'; result: InterventionResult } | { kind: 'not_applied' } | { kind: 'unknown'; why: 'running' | 'away'; error?: unknown };

class TakenBack extends Error {}

/**
 * What became of the try with a key: only who can claim the key itself, which is taken back, knows that nobody has it. Asks over the
 * operator's connection, as a reader may be a replica behind its time. Throws DatabaseFailure when nobody answers.
 */
export async function findKey(outbox: Outbox, { actor, key }: ActorsKey): Promise<Finding> {
  const { engine, read, write } = outbox.database;
  const recorded = async (db: Db): Promise<Finding | null> => {
    const header = await headerOf(engine, db, { outbox: outbox.id, actor, key });
    return header === null ? null : { kind: 'applied', result: await recordedResult(engine, db, header) };
  };
  const find = async (db: Db): Promise<Finding> => {
    const found = await recorded(db);
    if (found !== null) return found;
    // This server takes no writes: the one that does may have the record.
    if (await engine.isReadOnly(db)) return { kind: 'unknown', why: 'away' };
    const request = { operation: 'look', events: [], reason: 'looking whether this key is taken' };
    const claimed = await insertHeader(engine, db, { id: uuidv7(), outbox: outbox.id, actor, key, requestHash: '', request });
    // Taken between the two readings, or given back again.
    return claimed ? { kind: 'not_applied' } : ((await recorded(db)) ?? { kind: 'unknown', why: 'running' });
  };
  if (write === null) return (await read(recorded)) ?? { kind: 'unknown', why: 'away' };
  const found: Finding[] = [];
  try {
    await write(async (db) => {
      found.push(await find(db));
      throw new TakenBack();
    });
  } catch (error) {
    const [finding] = found;
    if (error instanceof TakenBack && finding !== undefined) return finding;
    if (error instanceof DatabaseFailure && (error.code === 'locked' || error.code === 'deadlock'))
      return { kind: 'unknown', why: 'running' };
    throw error;
  }
  throw new Error('a transaction that is taken back was committed');
}

/** The same, never rejecting: what fails leaves it unknown, with the error for who asks for the last time. */
const findKeyIfAnswered = (outbox: Outbox, entry: Unsettled): Promise<Finding> =>
  findKey(outbox, entry).catch((error: unknown) => ({ kind: 'unknown', why: 'away', error }));

/** Finds out what became of a commit that was not confirmed, by looking. null: it was not committed, for certain. Never rejects. */
export async function settle(deps: SettleDeps, outbox: Outbox, entry: Unsettled): Promise<InterventionResult | null> {
  const finding = await within(findUntilKnown(outbox, entry), ANSWER_WITHIN_MS);
  if (finding?.kind === 'not_applied') return null;
  if (finding?.kind === 'applied') {
    deps.onRecord(outbox.id);
    return finding.result;
  }
  await deps.unsettled.add(entry);
  return unknownResult(entry);
}

async function findUntilKnown(outbox: Outbox, entry: Unsettled): Promise<Finding> {
  for (let attempt = 1; ; attempt += 1) {
    const finding = await findKeyIfAnswered(outbox, entry);
    if (finding.kind !== 'unknown' || attempt === TRIES) return finding;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * attempt));
  }
}

function unknownResult({ id, outbox, actor, request: { operation, reason } }: Unsettled): InterventionResult {
  const nothing = { at: null, changed: [], skipped: [], undo: null };
  return { interventionId: id, outbox, operation, reason, actor: actor.name, outcome: 'unknown', ...nothing };
}

/** The answer for a try that turned out never to have been committed: `none`, at no time. */
export const notAppliedResult = (entry: Unsettled): InterventionResult => ({ ...unknownResult(entry), outcome: 'none' });

export const resultFrom = (entry: Unsettled, finding: Finding): InterventionResult =>
  finding.kind === 'applied' ? finding.result : finding.kind === 'unknown' ? unknownResult(entry) : notAppliedResult(entry);

/** Looks again after an unsettled try, and settles it once the answer is certain. Throws Problem `not_found` for an unknown outbox. */
export async function settleEntry(deps: SettleDeps, entry: Unsettled): Promise<Finding> {
  const outbox = await deps.directory.get(entry.outbox).catch(unlessAway);
  const finding: Finding = outbox === null ? { kind: 'unknown', why: 'away' } : await findKeyIfAnswered(outbox, entry);
  if (finding.kind === 'unknown') return finding;
  await deps.unsettled.settled(entry, finding.kind);
  if (finding.kind === 'applied') deps.onRecord(entry.outbox);
  return finding;
}

function unlessAway(error: unknown): null {
  if (error instanceof Problem && (error.code === 'unavailable' || error.code === 'timeout')) return null;
  throw error;
}
