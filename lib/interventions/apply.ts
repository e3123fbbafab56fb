import { sql } from 'kysely';
import { DatabaseFailure } from '@/lib/database/failure';
import type { Db } from '@/lib/database/engine';
import type { Outbox, Place } from '@/lib/outbox/outbox';
import type { SkipCode } from '@/lib/shared/model';
import { classify } from './classify';
import type { Operation, Step } from './operation';
import type { RecordEvent } from './records';
import {
  callStatement,
  changedStatement,
  deleteStatement,
  imageStatement,
  insertStatement,
  lockStatement,
  updateStatement,
  type Author,
  type LockedRow,
  type Seen,
} from './statements';

/** So few rows are worth waiting for: a relay's claim passes in milliseconds, and one row is usually the one that hurts. */
const WAIT_FOR_ROWS = 3;

/**
 * Locks, changes and describes the wanted rows inside the caller's transaction. Every wanted event comes back as one
 * record: changed, or skipped with its code. One locked, moved or refused row never fails the others.
 */
export async function applyOperation(
  outbox: Outbox,
  db: Db,
  operation: Operation,
  wanted: Wanted[],
  author: Author,
): Promise<RecordEvent[]> {
  const steps = operation.steps(outbox);
  const records = new Map<string, RecordEvent>();
  const open = (): Wanted[] => wanted.filter(({ id }) => !records.has(id));
  const run = async (candidates: Seen[], wait: 'skip locked' | 'wait'): Promise<void> => {
    for (const step of steps) {
      const mine = candidates.filter(({ id, version }) => version.place === step.source.key && !records.has(id));
      if (mine.length === 0) continue;
      const locked = await lock(outbox, db, step, mine, wait);
      if (locked.length === 0) continue;
      const held = mine.filter(({ id }) => locked.some((row) => row.id === id));
      for (const record of await change(outbox, db, step, held, locked, author)) records.set(record.event_id, record);
    }
  };

  await run(open().filter(isSeen), (await outbox.database.engine.skipsLocked(db)) ? 'skip locked' : 'wait');
  let left = await classify(outbox, db, operation, steps, open());
  const heldByOthers = left.filter((entry) => entry.lockedOnly).map((entry) => entry.record.event_id);
  if (heldByOthers.length > 0 && heldByOthers.length <= WAIT_FOR_ROWS) {
    await run(
      open().filter((entry): entry is Seen => isSeen(entry) && heldByOthers.includes(entry.id)),
      'wait',
    );
    left = await classify(outbox, db, operation, steps, open());
  }
  for (const { record } of left) records.set(record.event_id, record);
  return wanted.flatMap(({ id }) => records.get(id) ?? []);
}

/** An event as requested: its version is null when the token is none of ours, or its id cannot be one of this table's. */
export type Wanted = Seen | { id: string; version: null };

function isSeen(wanted: Wanted): wanted is Seen {
  return wanted.version !== null;
}

async function lock(outbox: Outbox, db: Db, step: Step, seen: Seen[], wait: 'skip locked' | 'wait'): Promise<LockedRow[]> {
  if (wait === 'skip locked') return (await lockStatement(outbox, step, seen, wait).execute(db)).rows;
  const rows: LockedRow[] = [];
  let refused = 0;
  for (const one of seen) {
    if (refused === WAIT_FOR_ROWS) break;
    const got = await inSavepoint(outbox, db, async () => (await lockStatement(outbox, step, [one], wait).execute(db)).rows, ['locked']);
    if (got.ok) rows.push(...got.value);
    else refused += 1;
  }
  return rows;
}

async function change(outbox: Outbox, db: Db, step: Step, held: Seen[], locked: LockedRow[], author: Author): Promise<RecordEvent[]> {
  const together = await inSavepoint(outbox, db, () => changeRows(outbox, db, step, held, locked, author), ROW_FAILURES);
  if (together.ok) return describe(outbox, db, step, locked, together.value);
  // One row that its table refuses must not take the others down: the rest goes through one by one.
  const done: string[] = [];
  const refused = new Map<string, SkipCode>();
  for (const one of held) {
    const alone = await inSavepoint(
      outbox,
      db,
      () =>
        changeRows(
          outbox,
          db,
          step,
          [one],
          locked.filter(({ id }) => id === one.id),
          author,
        ),
      ROW_FAILURES,
    );
    if (alone.ok) done.push(...alone.value);
    else refused.set(one.id, alone.failure.code === 'duplicate' ? 'already_exists' : 'not_supported');
  }
  return describe(outbox, db, step, locked, done, refused);
}

/** Failures that one row can cause by what it holds. */
const ROW_FAILURES: DatabaseFailure['code'][] = ['duplicate', 'constraint', 'bad_value'];

/** Carries the step out on rows we hold; answers the ids that were changed. */
async function changeRows(outbox: Outbox, db: Db, step: Step, held: Seen[], locked: LockedRow[], author: Author): Promise<string[]> {
  const ids = held.map(({ id }) => id);
  let changed = ids;
  if (step.call !== null) {
    await callStatement(outbox, step.call, step.source, ids).execute(db);
    const { rows } = await changedStatement(outbox, step.source, locked).execute(db);
    changed = rows.map((row) => row.id);
  } else if (step.target === null) {
    const { numAffectedRows } = await updateStatement(outbox, step, held).execute(db);
    expectRows(numAffectedRows, ids.length);
  } else {
    const { rows, numAffectedRows } = await insertStatement(outbox, { ...step, target: step.target }, held, author).execute(db);
    // An engine that does not say which rows it copied has copied all of them, or failed.
    if (outbox.database.engine.features.returning) changed = rows.map((row) => row.id);
    else expectRows(numAffectedRows, ids.length);
    if (changed.length > 0) {
      const moved = held.filter(({ id }) => changed.includes(id));
      const { numAffectedRows } = await deleteStatement(outbox, step, moved).execute(db);
      expectRows(numAffectedRows, moved.length);
    }
  }
  if (step.notify !== null) await notify(outbox, db, step.notify.channel, changed);
  return changed;
}

/** We hold these rows' locks: where fewer were written, a trigger or a rule of the table has passed over some without a word. */
function expectRows(affected: bigint | undefined, expected: number): void {
  if (Number(affected ?? -1n) === expected) return;
  throw new DatabaseFailure('constraint', null, new Error(`expected to change ${expected} locked rows, changed ${affected ?? 'none'}`));
}

/** Wakes the relay when the transaction commits; the payload is the id, as the table's own trigger sends it. */
async function notify(outbox: Outbox, db: Db, channel: string, ids: string[]): Promise<void> {
  if (!outbox.database.engine.features.notify) return;
  for (const id of ids) await sql`select pg_notify(${channel}, ${id})`.execute(db);
}

async function describe(
  outbox: Outbox,
  db: Db,
  step: Step,
  locked: LockedRow[],
  changed: string[],
  refused = new Map<string, SkipCode>(),
): Promise<RecordEvent[]> {
  const target: Place = step.target ?? step.source;
  const after = new Map(
    (changed.length === 0 ? [] : (await imageStatement(outbox, target, changed).execute(db)).rows).map((row) => [row.id, row.image]),
  );
  return locked.map((row) => {
    const done = changed.includes(row.id);
    const image = after.get(row.id);
    return {
      event_id: row.id,
      event_type: row.type,
      aggregate_id: row.aggregate_id,
      code: done ? null : (refused.get(row.id) ?? (step.call === null ? 'already_exists' : 'not_supported')),
      detail: done
        ? null
        : refused.get(row.id) === 'not_supported'
          ? { because: 'refused_by_table' }
          : step.call === null
            ? {}
            : { because: 'library_refused' },
      before: parseImage(row.image),
      after: done && image !== undefined ? parseImage(image) : null,
    };
  });
}

function parseImage(image: string): Record<string, string | null> {
  return JSON.parse(image) as Record<string, string | null>;
}

type Attempt<T> = { ok: true; value: T } | { ok: false; failure: DatabaseFailure };

/** Runs `work` so that one of the expected failures undoes it alone and leaves the transaction alive. */
async function inSavepoint<T>(outbox: Outbox, db: Db, work: () => Promise<T>, expected: DatabaseFailure['code'][]): Promise<Attempt<T>> {
  await sql`savepoint attempt`.execute(db);
  try {
    const value = await work();
    await sql`release savepoint attempt`.execute(db);
    return { ok: true, value };
  } catch (error) {
    const failure = outbox.database.engine.failure(error);
    if (!expected.includes(failure.code)) throw error;
    await sql`rollback to savepoint attempt`.execute(db);
    await sql`release savepoint attempt`.execute(db);
    return { ok: false, failure };
  }
}
