import { uuidv7 } from 'uuidv7';
import type { Database } from '@/lib/database/database';
import type { Db } from '@/lib/database/description';
import { failureAs } from '@/lib/database/failure';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { within } from '@/lib/shared/async/within';
import type { ActorsKey } from './operation';
import { headerOf, insertHeader, recordedResult } from './records';

/** A try whose commit was sent but not confirmed. */
export interface Unsettled extends ActorsKey {
  id: string;
  request: InterventionRequest;
  /** ISO 8601 UTC, the console's clock. */
  at: string;
}

/** A stored try: still to be settled, or known never to have been committed. */
export type Remembered = { entry: Unsettled; notApplied: boolean };

/** Keeps unsettled tries until their database answers: in the store, or in memory while the store does not take them. */
export interface UnsettledLog {
  /** Never rejects: an entry that the store does not take now is kept until it does. */
  add(entry: Unsettled): Promise<void>;
  /** By id; rejects if it is not in memory and the store does not answer. */
  get(id: string): Promise<Remembered | null>;
  /** The latest of a key, unsettled ones first; rejects like `get`. */
  ofKey(key: ActorsKey): Promise<Remembered | null>;
  list(outboxes: readonly string[]): Promise<Unsettled[]>;
  /** Deletes an applied try, whose record has everything; one not applied goes to the audit. Never rejects. */
  settled(entry: Unsettled, outcome: 'applied' | 'not_applied'): Promise<void>;
}

export interface SettleDeps {
  directory: OutboxDirectory;
  unsettled: UnsettledLog;
  onRecord(outboxId: string): void;
}

const TRIES = 3;
const PAUSE_MS = 400;
/** After this, the caller of an intervention gets `unknown` instead of waiting longer. */
const ANSWER_WITHIN_MS = 5_000;

/** Applied: its record exists. Not applied: it never will. Unknown: its transaction is running, or its database does not answer. */
export type Finding =
  { kind: 'applied'; result: InterventionResult } | { kind: 'not_applied' } | { kind: 'unknown'; why: 'running' | 'away'; error?: unknown };

/** Carries the result out of a transaction that must not commit. */
class TakenBack<T> extends Error {
  constructor(readonly answer: T) {
    super('taken back');
  }
}

/** What `work` finds in a transaction that is then rolled back. */
export async function takenBack<T>(write: NonNullable<Database['write']>, work: (db: Db) => Promise<T>): Promise<T> {
  try {
    return await write(async (db): Promise<never> => {
      throw new TakenBack(await work(db));
    });
  } catch (error) {
    if (error instanceof TakenBack) return error.answer as T;
    throw error;
  }
}

/**
 * What became of the try with a key. Only claiming the key, which is then rolled back, proves that it is unused. Uses the operator's
 * connection, as a reader may be a lagging replica. Throws DatabaseFailure if the database does not answer.
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
    // Taken between the two reads, or released again.
    return claimed ? { kind: 'not_applied' } : ((await recorded(db)) ?? { kind: 'unknown', why: 'running' });
  };
  if (write === null) return (await read(recorded)) ?? { kind: 'unknown', why: 'away' };
  return takenBack(write, find).catch(failureAs<Finding>({ kind: 'unknown', why: 'running' }, 'locked', 'deadlock'));
}

/** The same, never rejecting: after a failure it is unknown, with the error. */
const findKeyIfAnswered = (outbox: Outbox, entry: Unsettled): Promise<Finding> =>
  findKey(outbox, entry).catch((error: unknown) => ({ kind: 'unknown', why: 'away', error }));

/** Finds out what became of an unconfirmed commit; keeps it as unsettled if unknown. null: certainly not committed. Never rejects. */
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

/** The result of a try that was never committed: `none`, without a time. */
export const notAppliedResult = (entry: Unsettled): InterventionResult => ({ ...unknownResult(entry), outcome: 'none' });

export const resultFrom = (entry: Unsettled, finding: Finding): InterventionResult =>
  finding.kind === 'applied' ? finding.result : finding.kind === 'unknown' ? unknownResult(entry) : notAppliedResult(entry);

/** Checks an unsettled try again, and settles it once the result is certain. Throws Problem `not_found` for an unknown outbox. */
export async function settleEntry(deps: SettleDeps, entry: Unsettled): Promise<Finding> {
  const outbox = await deps.directory.get(entry.outbox).catch((error: unknown) => {
    if (error instanceof Problem && (error.code === 'unavailable' || error.code === 'timeout')) return null;
    throw error;
  });
  const finding: Finding = outbox === null ? { kind: 'unknown', why: 'away' } : await findKeyIfAnswered(outbox, entry);
  if (finding.kind === 'unknown') return finding;
  await deps.unsettled.settled(entry, finding.kind);
  if (finding.kind === 'applied') deps.onRecord(entry.outbox);
  return finding;
}
