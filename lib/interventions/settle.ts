import { DatabaseFailure } from '@/lib/database/failure';
import { uuidv7 } from 'uuidv7';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { eventsOf, headerById, headerByKey, insertHeader, resultOf } from './records';

/** An intervention whose commit was sent and never confirmed. */
export interface Unsettled {
  id: string;
  outbox: string;
  actor: Actor;
  key: string;
  request: InterventionRequest;
  /** ISO 8601 UTC, the console's clock. */
  at: string;
}

/** Where unsettled interventions are kept until the database answers: the store. */
export interface UnsettledLog {
  add(entry: Unsettled): Promise<void>;
  get(id: string): Promise<Unsettled | null>;
  list(): Promise<Unsettled[]>;
  /** Forgets it. One that was never committed is told to the audit: the database has no record that could be carried there. */
  settled(entry: Unsettled, outcome: 'applied' | 'not_applied'): Promise<void>;
}

const TRIES = 3;
const PAUSE_MS = 400;

/** What looking into the database told: the record is there, it never will be, or nobody can say yet. */
type Finding = { kind: 'applied'; result: InterventionResult } | { kind: 'not_applied' } | { kind: 'unknown' };

/**
 * Finds out what became of a commit that was never confirmed, by looking, never by repeating. Answers the stored
 * result, throws Problem `unavailable` when nothing was changed, or answers outcome `unknown` and remembers it.
 */
export async function settle(
  deps: { unsettled: UnsettledLog; onRecord(outboxId: string): void },
  outbox: Outbox,
  entry: Unsettled,
  undo: string | null,
): Promise<InterventionResult> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * attempt));
    const finding = await look(outbox, entry, undo);
    if (finding.kind === 'applied') {
      deps.onRecord(outbox.id);
      return finding.result;
    }
    if (finding.kind === 'not_applied') {
      throw new Problem(
        'unavailable',
        `The connection to database ${outbox.database.id} broke before the change was committed. Nothing was changed; it is safe to try again`,
      );
    }
  }
  await deps.unsettled.add(entry);
  return unknownResult(entry);
}

export function unknownResult(entry: Unsettled): InterventionResult {
  return {
    interventionId: entry.id,
    outbox: entry.outbox,
    operation: entry.request.operation,
    reason: entry.request.reason,
    actor: entry.actor.name,
    at: null,
    outcome: 'unknown',
    changed: [],
    skipped: [],
    undo: null,
  };
}

/** The answer for an intervention that turned out never to have been committed: nothing was changed. */
export function notAppliedResult(entry: Unsettled): InterventionResult {
  return { ...unknownResult(entry), outcome: 'none' };
}

export async function look(outbox: Outbox, entry: Unsettled, undo: string | null): Promise<Finding> {
  const { write } = outbox.database;
  if (write === null) return { kind: 'unknown' };
  try {
    const found = await outbox.database.read(async (db) => {
      const header = await headerById(outbox.database.engine, db, entry.id);
      if (header === null) return null;
      return resultOf(header, (await eventsOf(outbox.database.engine, db, [entry.id])).get(entry.id) ?? [], undo);
    });
    if (found !== null) return { kind: 'applied', result: found };
    return (await stillRunning(outbox, entry)) ? { kind: 'unknown' } : await afterwards(outbox, entry, undo);
  } catch (error) {
    if (error instanceof DatabaseFailure) return { kind: 'unknown' };
    throw error;
  }
}

/** The transaction has ended: now its record is there, or it never will be. */
async function afterwards(outbox: Outbox, entry: Unsettled, undo: string | null): Promise<Finding> {
  const found = await outbox.database.read(async (db) => {
    const header = await headerById(outbox.database.engine, db, entry.id);
    return header === null ? null : resultOf(header, (await eventsOf(outbox.database.engine, db, [entry.id])).get(entry.id) ?? [], undo);
  });
  return found === null ? { kind: 'not_applied' } : { kind: 'applied', result: found };
}

class RolledBack extends Error {}

/** Tries to claim the same key and takes it back: waiting for a lock means that the old transaction is alive. */
async function stillRunning(outbox: Outbox, entry: Unsettled): Promise<boolean> {
  const { write } = outbox.database;
  if (write === null) return true;
  try {
    await write(async (db) => {
      await insertHeader(outbox.database.engine, db, {
        id: uuidv7(),
        outbox: entry.outbox,
        actor: entry.actor,
        key: entry.key,
        requestHash: '',
        request: entry.request,
      });
      throw new RolledBack();
    });
  } catch (error) {
    if (error instanceof RolledBack) return false;
    if (error instanceof DatabaseFailure && error.code === 'locked') return true;
    throw error;
  }
  return false;
}

/**
 * The state of an intervention by its id, settling it if it was left unknown. null when no database and no log knows
 * it. A database that cannot be asked makes a logged one `unknown` and is otherwise passed over.
 */
export async function findIntervention(
  deps: { directory: OutboxDirectory; unsettled: UnsettledLog; onRecord(outboxId: string): void },
  id: string,
): Promise<InterventionResult | null> {
  const entry = await deps.unsettled.get(id);
  if (entry !== null) return settleEntry(deps, entry);
  for (const outboxId of deps.directory.ids) {
    try {
      const outbox = await deps.directory.get(outboxId);
      if (outbox.archive === null) continue;
      const found = await outbox.database.read(async (db) => {
        const header = await headerById(outbox.database.engine, db, id);
        return header === null ? null : resultOf(header, (await eventsOf(outbox.database.engine, db, [id])).get(id) ?? [], null);
      });
      if (found !== null) return found;
    } catch (error) {
      if (!(error instanceof DatabaseFailure) && !(error instanceof Problem)) throw error;
    }
  }
  return null;
}

/**
 * Looks again after an unsettled intervention and forgets it once the answer is certain; `unknown` while its database cannot
 * be asked. Throws Problem `not_found` when its outbox is no longer configured.
 */
export async function settleEntry(
  deps: { directory: OutboxDirectory; unsettled: UnsettledLog; onRecord(outboxId: string): void },
  entry: Unsettled,
): Promise<InterventionResult> {
  const outbox = await deps.directory.get(entry.outbox).catch(unlessAway);
  const finding: Finding = outbox === null ? { kind: 'unknown' } : await look(outbox, entry, null);
  if (finding.kind === 'unknown') return unknownResult(entry);
  await deps.unsettled.settled(entry, finding.kind);
  if (finding.kind === 'not_applied') return notAppliedResult(entry);
  deps.onRecord(entry.outbox);
  return finding.result;
}

function unlessAway(error: unknown): null {
  if (error instanceof Problem && (error.code === 'unavailable' || error.code === 'timeout')) return null;
  throw error;
}

/** The answer this actor's key gave, or null when the key was never used on this outbox. */
export async function findByKey(
  deps: { directory: OutboxDirectory },
  actor: Actor,
  outboxId: string,
  key: string,
): Promise<InterventionResult | null> {
  const outbox = await deps.directory.get(outboxId);
  if (outbox.archive === null) return null;
  return outbox.database.read(async (db) => {
    const header = await headerByKey(outbox.database.engine, db, outboxId, actor.id, key);
    return header === null ? null : resultOf(header, (await eventsOf(outbox.database.engine, db, [header.id])).get(header.id) ?? [], null);
  });
}
