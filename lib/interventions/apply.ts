import { sql } from 'kysely';
import { settleConstraints } from '@/lib/database/deferred';
import type { Db } from '@/lib/database/engine';
import type { DatabaseFailure } from '@/lib/database/failure';
import type { Outbox } from '@/lib/outbox/outbox';
import type { SkipCode } from '@/lib/shared/model';
import { classify } from './classify';
import { stepsOf, type Operation, type Step } from './operation';
import { expectChange, readBack, type Expectation, type Fault, type ReadBack } from './read-back';
import type { RecordEvent } from './records';
import {
  callStatement,
  changedStatement,
  deleteStatement,
  heldStatement,
  insertStatement,
  isAsSeen,
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
 * record: changed, or skipped with its code. One locked, moved or refused row never fails the others, and one that another's
 * change has undone is left out.
 */
export async function applyOperation(
  outbox: Outbox,
  db: Db,
  operation: Operation,
  wanted: Wanted[],
  author: Author,
): Promise<RecordEvent[]> {
  const undone = new Map<string, RecordEvent>();
  await sql`savepoint operation`.execute(db);
  for (;;) {
    const rest = wanted.filter(({ id }) => !undone.has(id));
    const { records, changes } = await applyOnce(outbox, db, operation, rest, author);
    const faults = await readAllBack(outbox, db, operation, changes);
    if (faults.size === 0) return wanted.flatMap(({ id }) => undone.get(id) ?? records.get(id) ?? []);
    await sql`rollback to savepoint operation`.execute(db);
    for (const [id, fault] of faults) {
      const record = records.get(id);
      if (record !== undefined) undone.set(id, { ...record, code: 'did_not_take', detail: toldOf(fault), after: null });
    }
  }
}

/** What was changed together, as it was promised. */
interface Change {
  step: Step;
  locked: LockedRow[];
  expectation: Expectation;
  records: RecordEvent[];
  /** How many times some of them were changed and read back, one after the other. */
  parts: number;
}

/** What was read back is read once more where others were changed after it: their triggers may have undone it. */
async function readAllBack(outbox: Outbox, db: Db, operation: Operation, changes: Change[]): Promise<Map<string, Fault>> {
  const all = new Map<string, Fault>();
  if (changes.reduce((sum, { parts }) => sum + parts, 0) < 2) return all;
  for (const { step, locked, expectation, records } of changes) {
    const taken = records.filter(({ code }) => code === null);
    const changed = taken.map(({ event_id: id }) => id);
    const { faults, images } = await readBack(outbox, db, operation, step, { locked, changed, expectation });
    for (const [id, fault] of faults) all.set(id, fault);
    for (const record of taken) record.after = parseImage(images.get(record.event_id) ?? JSON.stringify(record.after));
  }
  return all;
}

async function applyOnce(
  outbox: Outbox,
  db: Db,
  operation: Operation,
  wanted: Wanted[],
  author: Author,
): Promise<{ records: Map<string, RecordEvent>; changes: Change[] }> {
  const steps = stepsOf(outbox, operation);
  const records = new Map<string, RecordEvent>();
  const changes: Change[] = [];
  const open = (): Wanted[] => wanted.filter(({ id }) => !records.has(id));
  const run = async (candidates: Seen[], wait: 'skip locked' | 'wait'): Promise<void> => {
    for (const step of steps) {
      const mine = candidates.filter(({ id, version }) => version.place === step.source.key && !records.has(id));
      if (mine.length === 0) continue;
      const locked = await unchanged(outbox, db, step, mine, await lock(outbox, db, step, mine, wait));
      if (locked.length === 0) continue;
      const held = mine.filter(({ id }) => locked.some((row) => row.id === id));
      const done = await change({ outbox, db, operation, step, author }, held, locked);
      changes.push(done);
      for (const record of done.records) records.set(record.event_id, record);
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
  return { records, changes };
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

/**
 * Of the rows that are held, those that nobody has operated on since they were seen. Not the others, whatever they look like by now,
 * nor any that could not be counted.
 */
async function unchanged(outbox: Outbox, db: Db, step: Step, seen: Seen[], locked: LockedRow[]): Promise<LockedRow[]> {
  if (locked.length === 0) return [];
  const ids = locked.map(({ id }) => id);
  const now = new Map((await heldStatement(outbox, step.source, ids).execute(db)).rows.map((row) => [row.id, row]));
  const isUntouched = ({ id, version }: Seen): boolean => {
    const row = now.get(id);
    return row !== undefined && row.touched !== null && isAsSeen(version, row);
  };
  const same = new Set(seen.filter(isUntouched).map(({ id }) => id));
  return locked.filter(({ id }) => same.has(id));
}

/** One step of an intervention under way. */
interface Work {
  outbox: Outbox;
  db: Db;
  operation: Operation;
  step: Step;
  author: Author;
}

/** Failures that one row can cause by what it holds. */
const ROW_FAILURES: DatabaseFailure['code'][] = ['duplicate', 'constraint', 'bad_value'];

/**
 * All rows together. Those that did not take are left out and the others changed again; where it is not known which row the table
 * refuses, or has given another key, each half goes by itself.
 */
async function change(work: Work, held: Seen[], locked: LockedRow[]): Promise<Change> {
  const { outbox, db, step } = work;
  const expectation = await expectChange(
    outbox,
    db,
    step,
    held.map(({ id }) => id),
  );
  const done = new Map<string, string>();
  const left = new Map<string, Left>();
  let parts = 0;
  const open = [held];
  for (let group = open.pop(); group !== undefined; group = open.pop()) {
    const rows = group;
    const mine = locked.filter(({ id }) => rows.some((row) => row.id === id));
    const tried = await inSavepoint(
      outbox,
      db,
      async () => {
        const changed = await changeRows(work, rows, mine);
        // A trigger that waits for the commit may undo what stands now.
        await settleConstraints(outbox.database.engine.key, db);
        return readBack(outbox, db, work.operation, step, { locked: mine, changed, expectation });
      },
      ROW_FAILURES,
      ({ faults }: ReadBack) => faults.size === 0,
    );
    if (tried.ok && tried.value.faults.size === 0) {
      for (const [id, image] of tried.value.images) done.set(id, image);
      parts += 1;
      continue;
    }
    const faults = tried.ok ? tried.value.faults : new Map<string, Fault>();
    for (const [id, fault] of faults) left.set(id, { code: 'did_not_take', detail: toldOf(fault) });
    const others = rows.filter(({ id }) => !faults.has(id));
    if (others.length < rows.length) {
      if (others.length > 0) open.push(others);
    } else if (rows.length > 1) {
      const middle = Math.ceil(rows.length / 2);
      open.push(rows.slice(middle), rows.slice(0, middle));
    } else if (tried.ok) {
      // The table gave what was put there another key.
      for (const fault of faults.values()) left.set(rows[0]?.id ?? '', { code: 'did_not_take', detail: toldOf(fault) });
    } else if (tried.failure.code === 'duplicate') left.set(rows[0]?.id ?? '', { code: 'already_exists', detail: {} });
    else left.set(rows[0]?.id ?? '', { code: 'not_supported', detail: { because: 'refused_by_table' } });
  }
  const passedOver: Left =
    step.call === null ? { code: 'already_exists', detail: {} } : { code: 'not_supported', detail: { because: 'library_refused' } };
  const records = locked.map((row): RecordEvent => {
    const image = done.get(row.id);
    const { code, detail } = image === undefined ? (left.get(row.id) ?? passedOver) : { code: null, detail: null };
    return {
      event_id: row.id,
      event_type: row.type,
      aggregate_id: row.aggregate_id,
      code,
      detail,
      before: parseImage(row.image),
      after: image === undefined ? null : parseImage(image),
    };
  });
  return { step, locked, expectation, records, parts };
}

/** Why a row that was held is as it was. */
interface Left {
  code: SkipCode;
  detail: NonNullable<RecordEvent['detail']>;
}

const toldOf = ({ because, detail }: Fault): Left['detail'] => ({ because, of: detail });

/** Carries the step out on rows we hold; answers the ids that it should have changed: whether it did is read back. */
async function changeRows({ outbox, db, step, author }: Work, held: Seen[], locked: LockedRow[]): Promise<string[]> {
  let changed = held.map(({ id }) => id);
  if (step.call !== null) {
    await callStatement(outbox, step.call, step.source, changed).execute(db);
    changed = (await changedStatement(outbox, step.source, locked).execute(db)).rows.map(({ id }) => id);
  } else if (step.target === null) {
    await updateStatement(outbox, step, held).execute(db);
  } else {
    const { rows } = await insertStatement(outbox, { ...step, target: step.target }, held, author).execute(db);
    // An engine that does not say which rows it copied has copied all of them, or failed.
    if (outbox.database.engine.features.returning) changed = rows.map(({ id }) => id);
    const moved = held.filter(({ id }) => changed.includes(id));
    if (moved.length > 0) await deleteStatement(outbox, step, moved).execute(db);
  }
  if (step.notify !== null) await notify(outbox, db, step.notify.channel, changed);
  return changed;
}

/** Wakes the relay when the transaction commits; the payload is the id, as the table's own trigger sends it. */
async function notify(outbox: Outbox, db: Db, channel: string, ids: string[]): Promise<void> {
  if (!outbox.database.engine.features.notify) return;
  for (const id of ids) await sql`select pg_notify(${channel}, ${id})`.execute(db);
}

function parseImage(image: string): Record<string, string | null> {
  return JSON.parse(image) as Record<string, string | null>;
}

type Attempt<T> = { ok: true; value: T } | { ok: false; failure: DatabaseFailure };

/** Runs `work` so that one of the expected failures, or an answer that is not to be kept, undoes it alone. */
async function inSavepoint<T>(
  outbox: Outbox,
  db: Db,
  work: () => Promise<T>,
  expected: DatabaseFailure['code'][],
  keep: (value: T) => boolean = () => true,
): Promise<Attempt<T>> {
  await sql`savepoint attempt`.execute(db);
  try {
    const value = await work();
    if (!keep(value)) await sql`rollback to savepoint attempt`.execute(db);
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
