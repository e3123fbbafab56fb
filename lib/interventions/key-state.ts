import { uuidv7 } from 'uuidv7';
import type { Db } from '@/lib/database/engine';
import { DatabaseFailure } from '@/lib/database/failure';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Actor } from '@/lib/shared/permissions';
import { eventsOf, headerByKey, insertHeader, type RecordEvent, type RecordHeader } from './records';

/** What the server that takes the writes knows of an idempotency key. */
export type KeyState =
  /** An intervention with it was committed. */
  | { kind: 'recorded'; header: RecordHeader; events: RecordEvent[] }
  /** A transaction with it has not ended: it may still be committed. */
  | { kind: 'running' }
  /** No transaction with it was committed, and none is under way that could be. */
  | { kind: 'free' }
  /** No record is seen, but this server takes no writes: the one that does may have it. */
  | { kind: 'unsaid' };

export interface ActorsKey {
  outbox: string;
  actor: Actor;
  key: string;
}

class TakenBack extends Error {}

/**
 * Asks over the operator's connection, never the reader's, which may be a replica behind its time. Only who could claim the
 * key itself knows that nobody has it: that is tried, and taken back. Throws DatabaseFailure when nobody answers.
 */
export async function keyState(outbox: Outbox, { actor, key }: ActorsKey): Promise<KeyState> {
  const { engine, read, write } = outbox.database;
  const recorded = async (db: Db): Promise<KeyState | null> => {
    const header = await headerByKey(engine, db, outbox.id, actor.id, key);
    if (header === null) return null;
    return { kind: 'recorded', header, events: (await eventsOf(engine, db, [header.id])).get(header.id) ?? [] };
  };
  const look = async (db: Db): Promise<KeyState> => {
    const found = await recorded(db);
    if (found !== null) return found;
    if (await engine.isReadOnly(db)) return { kind: 'unsaid' };
    const request = { operation: 'look', events: [], reason: 'looking whether this key is taken' };
    const claimed = await insertHeader(engine, db, { id: uuidv7(), outbox: outbox.id, actor, key, requestHash: '', request });
    // Taken between the two looks, or given back again.
    return claimed ? { kind: 'free' } : ((await recorded(db)) ?? { kind: 'running' });
  };

  if (write === null) return (await read(recorded)) ?? { kind: 'unsaid' };
  const seen: KeyState[] = [];
  try {
    await write(async (db) => {
      seen.push(await look(db));
      throw new TakenBack();
    });
  } catch (error) {
    const [state] = seen;
    if (error instanceof TakenBack && state !== undefined) return state;
    if (error instanceof DatabaseFailure && (error.code === 'locked' || error.code === 'deadlock')) return { kind: 'running' };
    throw error;
  }
  throw new Error('a transaction that is taken back was committed');
}
