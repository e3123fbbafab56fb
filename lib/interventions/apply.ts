import { sql } from 'kysely';
import type { DatabaseFailure } from '@/lib/database/failure';
import type { SkipCode } from '@/lib/shared/model';
import type { LineCount } from '@/lib/outbox/companions';
import { classify } from './classify';
import { stepsOf, type Asked, type Change, type Seen } from './operation';
import { expectedImage, readBack, rowsElsewhere, type Expectation, type Fault, type ReadBack } from './read-back';
import type { RecordEvent } from './records';
import {
  callStatement,
  changedStatement,
  deleteStatement,
  heldStatement,
  insertStatement,
  isAsSeen,
  lockStatement,
  prepareStep,
  relayStatement,
  updateStatement,
  type LockedRow,
  type PreparedStep,
} from './statements';

/** Locks on so few rows are waited for: a relay's claim lasts milliseconds, and a single row is usually the urgent one. */
const WAIT_FOR_ROWS = 3;
/** Failures that the values of one row can cause. */
const ROW_FAILURES: DatabaseFailure['code'][] = ['duplicate', 'constraint', 'bad_value'];

type Wait = 'skip locked' | 'wait';

interface StepChange extends Change, PreparedStep {}

type HeldRow = LockedRow & Seen & { expected: string };

type Changed = Awaited<ReturnType<typeof changeRows>>;

/** Locks, changes and describes the rows in the caller's transaction: one record each; a row that is left alone does not fail others. */
export async function applyOperation(change: Change, rows: readonly Asked[]): Promise<RecordEvent[]> {
  const undone = new Map<string, RecordEvent>();
  await sql`savepoint operation`.execute(change.db);
  for (;;) {
    const rest = rows.filter(({ id }) => !undone.has(id));
    const { records, changes } = await applyOnce(change, rest);
    const faults = await readAllBack(changes);
    if (faults.size === 0) return rows.flatMap(({ id }) => undone.get(id) ?? records.get(id) ?? []);
    await sql`rollback to savepoint operation`.execute(change.db);
    for (const [id, fault] of faults) {
      const record = records.get(id);
      if (record !== undefined) undone.set(id, { ...record, ...didNotTake(fault), after: null });
    }
  }
}

/** If rows were changed in several parts, all are read back again: triggers of a later part may have undone an earlier one. */
async function readAllBack(changes: readonly Changed[]): Promise<Map<string, Fault>> {
  const all = new Map<string, Fault>();
  if (changes.reduce((sum, { parts }) => sum + parts, 0) < 2) return all;
  for (const { work, held, expectation, records } of changes) {
    const taken = records.filter(({ code }) => code === null);
    const changed = taken.map(({ event_id: id }) => id);
    const { faults, images } = await readBack(work, { locked: held, changed, expectation });
    for (const [id, fault] of faults) all.set(id, fault);
    for (const record of taken) record.after = images.get(record.event_id) ?? record.after;
  }
  return all;
}

/** Step by step all rows that can be locked at once, then, if they are few, rows locked by others, which it waits for. */
async function applyOnce(change: Change, rows: readonly Asked[]): Promise<{ records: Map<string, RecordEvent>; changes: Changed[] }> {
  const { outbox, operation } = change;
  const steps = stepsOf(outbox, operation);
  const works = steps.map((step): StepChange => ({ ...change, ...prepareStep(outbox, step) }));
  const records = new Map<string, RecordEvent>();
  const changes: Changed[] = [];
  const open = (): Asked[] => rows.filter(({ id }) => !records.has(id));
  let wait: Wait = 'skip locked';
  let candidates = open();
  for (let last = false; ; last = true) {
    for (const work of works) {
      const seen = candidates.filter((row): row is Seen => row.version?.place === work.step.source.key && !records.has(row.id));
      const held = await holdRows(work, seen, wait);
      if (held.length === 0) continue;
      const changed = await changeRows(work, held);
      changes.push(changed);
      for (const record of changed.records) records.set(record.event_id, record);
    }
    const left = await classify(change, steps, open());
    const heldByOthers = new Set(left.filter(({ lockedOnly }) => lockedOnly).map(({ record }) => record.event_id));
    if (last || heldByOthers.size === 0 || heldByOthers.size > WAIT_FOR_ROWS) {
      for (const { record } of left) records.set(record.event_id, record);
      return { records, changes };
    }
    candidates = open().filter(({ id }) => heldByOthers.has(id));
    wait = 'wait';
  }
}

/** The lockable rows that were not operated on since they were seen; rows whose operations cannot be counted are left out. */
async function holdRows(work: StepChange, seen: readonly Seen[], wait: Wait): Promise<HeldRow[]> {
  const locked = seen.length === 0 ? [] : await lockRows(work, seen, wait);
  if (locked.length === 0) return [];
  const ids = locked.map(({ id }) => id);
  const now = new Map((await heldStatement(work, ids, expectedImage(work)).execute(work.db)).rows.map((row) => [row.id, row]));
  const rows = new Map(locked.map((row) => [row.id, row]));
  return seen.flatMap(({ id, version }) => {
    const [row, current] = [rows.get(id), now.get(id)];
    const untouched = row !== undefined && current !== undefined && current.touched !== null && isAsSeen(version, current);
    return untouched ? [{ ...row, version, expected: current.expected }] : [];
  });
}

async function lockRows(work: StepChange, seen: readonly Seen[], wait: Wait): Promise<LockedRow[]> {
  if (wait === 'skip locked') return (await lockStatement(work, seen, wait).execute(work.db)).rows;
  const rows: LockedRow[] = [];
  let refused = 0;
  for (const one of seen) {
    if (refused === WAIT_FOR_ROWS) break;
    const got = await inSavepoint(work, async () => (await lockStatement(work, [one], wait).execute(work.db)).rows, ['locked']);
    if (got.ok) rows.push(...got.value);
    else refused += 1;
  }
  return rows;
}

type Left = { code: SkipCode; detail: NonNullable<RecordEvent['detail']> };

const didNotTake = ({ because, detail }: Fault): Left => ({ code: 'did_not_take', detail: { because, of: detail } });
const ALREADY_EXISTS: Left = { code: 'already_exists', detail: {} };
const notSupported = (because: string): Left => ({ code: 'not_supported', detail: { because } });

/** All rows together. Rows that did not take the change are left out; if it is unknown which row the table refuses, each half is tried. */
async function changeRows(work: StepChange, held: HeldRow[]) {
  const expectation: Expectation = { rows: new Map(held.map(({ id, expected }) => [id, expected])), elsewhere: null };
  const images = new Map<string, string>();
  const left = new Map<string, Left>();
  /** How many groups of them were changed and read back, one after the other. */
  let parts = 0;
  const open = [held];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const rows = next;
    const tried = await inSavepoint(work, () => writeRows(work, rows, expectation), ROW_FAILURES, allTook);
    const faults = tried.ok ? tried.value.faults : new Map<string, Fault>();
    if (tried.ok && faults.size === 0) {
      for (const [id, image] of tried.value.images) images.set(id, image);
      parts += 1;
      continue;
    }
    if (expectation.elsewhere === null && [...faults.values()].some(({ because }) => because === 'in_two_tables')) {
      // The change is taken back: those that were in another table before are no fault.
      expectation.elsewhere = await rowsElsewhere(work, [work.step.source, work.target], [...expectation.rows.keys()]);
      open.push(rows);
      continue;
    }
    for (const [id, fault] of faults) left.set(id, didNotTake(fault));
    const others = rows.filter(({ id }) => !faults.has(id));
    const [only] = rows;
    if (others.length < rows.length) {
      if (others.length > 0) open.push(others);
    } else if (rows.length > 1) {
      const middle = Math.ceil(rows.length / 2);
      open.push(rows.slice(middle), rows.slice(0, middle));
    } else if (only !== undefined) {
      if (!tried.ok) left.set(only.id, tried.failure.code === 'duplicate' ? ALREADY_EXISTS : notSupported('refused_by_table'));
      // The table gave the inserted row another key.
      for (const fault of faults.values()) left.set(only.id, didNotTake(fault));
    }
  }
  const passedOver = work.step.call === null ? ALREADY_EXISTS : notSupported('library_refused');
  const records = held.map((row): RecordEvent => {
    const image = images.get(row.id);
    return {
      event_id: row.id,
      event_type: row.type,
      aggregate_id: row.aggregate_id,
      ...(image === undefined ? (left.get(row.id) ?? passedOver) : { code: null, detail: null, counted: countedBy(work, row) }),
      dead: row.version.state === 'dead' || work.step.dead,
      before: row.image,
      after: image ?? null,
    };
  });
  return { work, held, expectation, records, parts };
}

/** Dead rows are in no depth, so their coming and going would be taken for that of events which nobody saw. */
function countedBy({ outbox: { main }, step: { source, target, dead } }: StepChange, { version }: HeldRow): LineCount | undefined {
  if (target === main && dead) return 'inserted';
  if (source !== main || version.state !== 'dead') return undefined;
  return target === null ? 'depth' : 'deleted';
}

const allTook = ({ faults }: ReadBack): boolean => faults.size === 0;

async function writeRows(work: StepChange, held: HeldRow[], expectation: Expectation): Promise<ReadBack> {
  const { outbox, db, step, author } = work;
  const { engine } = outbox.database;
  let changed = held.map(({ id }) => id);
  if (step.call !== null) {
    await callStatement(work, step.call, held).execute(db);
    changed = (await changedStatement(work, held).execute(db)).rows.map(({ id }) => id);
  } else if (step.target === null) {
    await updateStatement(work, held).execute(db);
  } else {
    const { rows } = await insertStatement(work, held, author).execute(db);
    // Without RETURNING, all rows were copied, or the statement failed.
    if (engine.features.returning) changed = rows.map(({ id }) => id);
    const copied = new Set(changed);
    const moved = held.filter(({ id }) => copied.has(id));
    if (moved.length > 0) await deleteStatement(work, moved).execute(db);
  }
  if (step.notify !== null && engine.features.notify) await relayStatement(step.notify.channel, changed).execute(db);
  // Runs deferred triggers now, as they may undo the change.
  await engine.settleConstraints(db);
  return readBack(work, { locked: held, changed, expectation });
}

/** Runs `work` in a savepoint: an expected failure, or a result that `keep` rejects, undoes `work` alone. */
async function inSavepoint<T>(
  { outbox, db }: Change,
  work: () => Promise<T>,
  expected: DatabaseFailure['code'][],
  keep: (value: T) => boolean = () => true,
): Promise<{ ok: true; value: T } | { ok: false; failure: DatabaseFailure }> {
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
