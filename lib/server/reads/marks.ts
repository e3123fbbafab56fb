import 'server-only';
import { uuidv7 } from 'uuidv7';
import { digestOf } from '@/lib/database/digest';
import { createOnce, type Once } from '@/lib/shared/async/once';
import { runOf } from '@/lib/runs/run/progress';
import type { ChartMark, Mark, RunMark } from '@/lib/shared/figures/marks';
import { perObject } from '@/lib/shared/kept';
import { Problem } from '@/lib/shared/problems';
import { recordDeed } from '@/lib/store/audit';
import { findMarkByKey, insertMark, listActions, listMarks, MARKS_MAX, removeMark, type MarkFilter } from '@/lib/store/marks';
import { runsBetween, type StoredRun } from '@/lib/store/runs';
import type { StoreDb } from '@/lib/store/store';
import type { Context } from '../context';
import type { MarkRequest } from '../schemas';
import { orNothing } from './doctor';

/** Marks of one outbox and of all, newest first; `complete` is false if older ones were left out. Throws Problem `not_found`. */
export async function readMarks({ console }: Context, filter: MarkFilter): Promise<{ marks: Mark[]; complete: boolean }> {
  if (filter.outbox !== undefined) console.directory.settings(filter.outbox);
  const marks = await listMarks(console.store.db, filter);
  return { marks, complete: marks.length < MARKS_MAX };
}

/** One reading of actions for all who look at the same charts within this time. */
const SHARED_MS = 5_000;
const onceOf = perObject<StoreDb, Once>(createOnce);

/** Marks, operators' actions and runs for the charts of an outbox; without them while the store is away. */
export function chartMarks(context: Context, filter: Required<MarkFilter>): Promise<ChartMark[]> {
  const { db } = context.console.store;
  return orNothing(context.console, [], async () => {
    const actions = onceOf(db)([filter, Math.floor(Date.now() / SHARED_MS)], () => listActions(db, filter));
    return [...(await readMarks(context, filter)).marks, ...(await actions), ...(await runsBetween(db, filter)).map(runMark)];
  });
}

function runMark(stored: StoredRun): RunMark {
  const { id, outbox, operation, reason, maker, changed, createdAt, beganAt } = runOf(stored).run;
  return { kind: 'run', id, at: beganAt ?? createdAt, text: reason, outbox, url: null, actor: maker, operation, changed };
}

/** Puts a mark on the charts, with an audit entry, once per key. Throws Problem `invalid` (unknown outbox), `key_reused`. */
export async function addMark(context: Context, request: MarkRequest, key: string | null): Promise<Mark> {
  const { console, actor } = context;
  const { kind, text } = request;
  const [at, outbox, url] = [request.at ?? null, request.outbox ?? null, request.url ?? null];
  if (outbox !== null && !console.directory.ids.includes(outbox)) {
    const fields = { outbox: 'write the id of a configured outbox, or null' };
    throw new Problem('invalid', 'No such outbox: nothing was marked', { fields });
  }
  const requestHash = digestOf([at, kind, text, outbox, url]);
  return console.store.db.transaction().execute(async (db) => {
    const mark = await insertMark(db, { id: uuidv7(), at, kind, text, outbox, url, actor, idempotencyKey: key, requestHash });
    if (mark !== null) {
      await audit(db, context, 'mark', mark);
      return mark;
    }
    const earlier = key === null ? null : await findMarkByKey(db, actor.id, key);
    if (earlier?.requestHash !== requestHash) {
      throw new Problem('key_reused', 'This Idempotency-Key was used for another mark: send a new key for a new mark');
    }
    return earlier.mark;
  });
}

/** Takes a mark off the charts, with an audit entry. Throws Problem `not_found`. */
export async function endMark(context: Context, id: string): Promise<Mark> {
  return context.console.store.db.transaction().execute(async (db) => {
    const mark = await removeMark(db, id);
    if (mark === null) throw new Problem('not_found', 'There is no such mark, or it has been taken off');
    await audit(db, context, 'unmark', mark);
    return mark;
  });
}

/** Every mark has an audit entry with its author. */
function audit(db: StoreDb, { actor }: Context, operation: 'mark' | 'unmark', mark: Mark): Promise<void> {
  const { at, kind, text, url, outbox } = mark;
  return recordDeed(db, actor, { operation, outbox, reason: text, [operation === 'mark' ? 'after' : 'before']: { at, kind, text, url } });
}
