/** One operation on a row of one state: before, the statements themselves, after, and whether the guard holds. */
import { sql } from 'kysely';
import { applyOperation } from '@/lib/interventions/apply';
import type { Operation, Step } from '@/lib/interventions/operation';
import { OPERATIONS } from '@/lib/interventions/operation-registry.gen';
import type { RecordEvent } from '@/lib/interventions/records';
import { deleteStatement, insertStatement, updateStatement } from '@/lib/interventions/statements';
import { ruleFor } from '@/lib/outbox/capabilities';
import { tableLabel, type Place } from '@/lib/outbox/outbox';
import { placeSql } from '@/lib/outbox/row';
import type { Condition } from '@/lib/outbox/shape';
import { decodeVersion, type Version } from '@/lib/outbox/version';
import type { ProofFailure, ProofResult, ProofUntried } from '@/lib/shared/proofs';
import { attempt, type Bench } from './bench';
import { judge } from './judge';
import { contentColumns, intended, isFor, look, type Seen } from './look';
import { makeRow } from './make-row';
import { Recorder } from './recorder';
import { said, saidOfReal } from './said';
import { BeyondTheRow, solve, type Cells, type Known } from './solve';
import type { Trial } from './survey';

const AUTHOR = { interventionId: '00000000-0000-0000-0000-000000000000', actorName: 'a proof', reason: 'taken back' };

/** What ends a trial before its end. */
class Ended extends Error {
  constructor(
    readonly verdict: 'does_not' | 'untried',
    readonly because: ProofFailure | ProofUntried,
    readonly why: string | null = null,
  ) {
    super(because);
  }
}

/** Carries the trial out in the bench's transaction. `real` is a chosen event of that state, for where no row can be made. */
export async function carryOut(bench: Bench, trial: Trial, real: string | null): Promise<ProofResult> {
  const result = emptyResult(trial);
  try {
    const id = await rowFor(bench, trial, real, result);
    await onRow(bench, trial, id, result);
    if (result.verdict === 'round_trips') await onPublishedLookalike(bench, trial, result);
  } catch (error) {
    if (error instanceof Ended) Object.assign(result, { verdict: error.verdict, because: error.because, detail: error.why });
    else {
      const failure = bench.outbox.database.engine.failure(error);
      if (failure.code === 'connection' || (failure.code === 'other' && failure.state === null)) throw error;
      const because: ProofFailure = failure.code === 'no_privilege' ? 'no_privilege' : failure.code === 'locked' ? 'busy' : 'failed';
      const detail = result.row?.made === false ? saidOfReal(failure) : said(failure);
      Object.assign(result, { verdict: 'does_not', because, detail });
    }
  }
  if (result.row !== null && (!result.row.made || result.row.copied)) onlyChanges(result);
  return result;
}

function emptyResult({ operation, state, table }: Trial): ProofResult {
  return {
    operation,
    state,
    table,
    verdict: 'round_trips',
    because: null,
    detail: null,
    row: null,
    stateBefore: null,
    stateAfter: null,
    before: null,
    after: null,
    changed: [],
    statements: [],
    notes: [],
  };
}

/** The id of a row to work on: one made for this, or else the chosen one, locked. */
async function rowFor(bench: Bench, trial: Trial, real: string | null, result: ProofResult): Promise<string> {
  const made = await makeRow(bench, trial.place, solutionsFor(bench, trial, []), (id) => misfit(bench, trial, id));
  if (made.made) {
    result.row = { made: true, copied: made.copied };
    return made.id;
  }
  if (real === null) throw new Ended('untried', made.because, made.detail);
  const { outbox, db } = bench;
  const at = placeSql(outbox, trial.place);
  const { rows } = await sql<{
    one: number;
  }>`select 1 as one from ${at.from} where ${at.id.is(real)} ${outbox.database.engine.fragments.forUpdate(
    at.alias,
    'skip locked',
  )}`.execute(db);
  if (rows.length === 0) {
    if ((await look(bench, trial.place, real)) === null) throw new Ended('untried', 'wrong_event', real);
    throw new Ended('does_not', 'busy', real);
  }
  result.row = { made: false, id: real };
  return real;
}

/** What is wrong with a row that was made for a trial; null when nothing is. */
async function misfit(bench: Bench, { operation, state, place }: Trial, id: string): Promise<string | null> {
  const row = await look(bench, place, id);
  if (row?.event.state !== state) return `read as ${row?.event.state ?? 'no event'}`;
  if (operation === 'restore') return null;
  for (const step of operationOf(operation).steps(bench.outbox))
    if (step.source.key === place.key && (await isFor(bench, step, id))) return null;
  return 'no rule of the operation is for it';
}

/** Values that put a row of this trial's table into its state. Any will do in a dead-letter table: all its rows are dead. */
function solutionsFor({ outbox }: Bench, { operation, state, place }: Trial, further: Condition[]): Cells[] {
  if (place.key !== 'main') return [new Map()];
  const rule = ruleFor(outbox, operation, state);
  const { maxAttempts, stuckAfterSeconds } = outbox.parameters;
  const known: Known = {
    columns: place.description.columns,
    parameters: new Map([
      ['stuckAfter', stuckAfterSeconds],
      ...(maxAttempts === null ? [] : ([['maxAttempts', maxAttempts]] as const)),
      ...Object.entries(outbox.parameters.extra).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value] as const] : [])),
    ]),
  };
  const asked: Condition[] = [...further];
  if (rule !== null && 'version' in rule) {
    if (rule.guard !== undefined) asked.push(rule.guard);
    if (rule.olderThanStuckAfter !== undefined) asked.push({ column: rule.olderThanStuckAfter, olderThan: stuckAfterSeconds });
  }
  try {
    return solve(outbox.shape, state, asked, known);
  } catch (error) {
    if (error instanceof BeyondTheRow) return [];
    throw error;
  }
}

const operationOf = (key: string): Operation => {
  const found = OPERATIONS.find((operation) => operation.key === key);
  if (found === undefined) throw new Error(`no operation ${key}`);
  return found;
};

async function onRow(bench: Bench, trial: Trial, id: string, result: ProofResult): Promise<void> {
  const original = await look(bench, trial.place, id);
  if (original === null) throw new Ended('does_not', 'wrong_state_before', 'not seen');
  result.stateBefore = original.event.state;
  if (original.event.state !== trial.state) {
    if (result.row?.made === false) throw new Ended('untried', 'wrong_event', original.event.state);
    throw new Ended('does_not', 'wrong_state_before', original.event.state);
  }
  const before = trial.operation === 'restore' ? await archived(bench, original) : original;
  const operation = operationOf(trial.operation);
  const step = await stepFor(bench, operation, before, id);
  const version = versionOf(before);

  await refusesOtherVersions(bench, operation, step, id, version);
  const wanted = await intended(bench, step, id);
  const recorder = new Recorder();
  const listening = bench.db.withPlugin(recorder);
  const [record] = await applyOperation(bench.outbox, listening, operation, [{ id, version }], AUTHOR);
  result.statements = recorder.statements(bench.db, calledBy(bench, trial));
  const settled = await attempt(bench, 'keep', () => bench.settle());
  if (!settled.ok) throw new Ended('does_not', 'refused_by_table', said(settled.failure));
  await expectApplied(bench, step, { id, version }, record, result);

  const target = step.target ?? step.source;
  const after = await look(bench, target, id);
  if (after === null) throw new Ended('does_not', 'no_row_left', tableLabel(target.table));
  const digested = [...new Set([...contentColumns(step.source), ...contentColumns(target)])].sort();
  Object.assign(result, { stateAfter: after.event.state, before: before.columns, after: after.columns, digested });
  const verdict = judge(bench.outbox, trial, step, { before, after, wanted });
  Object.assign(result, { changed: verdict.changed, notes: [...verdict.notes, ...notesOf(bench, trial, step)] });
  if (verdict.failure !== null) throw new Ended('does_not', verdict.failure.code, verdict.failure.detail);
  if (step.target !== null && (await look(bench, step.source, id)) !== null)
    throw new Ended('does_not', 'touched_more', 'the row is in two tables');
  if (trial.operation === 'restore') expectRestored(bench, trial, step, original, after);
  await refusesASecondTime(bench, operation, step, { id, version }, result);
}

function versionOf({ event }: Seen): Version {
  const version = decodeVersion(event.version);
  if (version === null) throw new Error('an event without a version');
  return version;
}

/** Archives the row first, so that there is something to restore. */
async function archived(bench: Bench, original: Seen): Promise<Seen> {
  const { id } = original.event;
  const [record] = await applyOperation(bench.outbox, bench.db, operationOf('archive'), [{ id, version: versionOf(original) }], AUTHOR);
  const { archive } = bench.outbox;
  const row = archive === null || record?.code !== null ? null : await look(bench, archive, id);
  if (row === null) throw new Ended('does_not', 'not_applied', `archive: ${record?.code ?? 'no record'}`);
  return row;
}

async function stepFor(bench: Bench, operation: Operation, row: Seen, id: string): Promise<Step> {
  const { place } = versionOf(row);
  for (const step of operation.steps(bench.outbox)) if (step.source.key === place && (await isFor(bench, step, id))) return step;
  throw new Ended('does_not', 'not_applied', 'no rule of the operation is for this row');
}

/** Tells why a row was left as it was; a table that refuses it is asked again, for its reason. */
async function expectApplied(
  bench: Bench,
  step: Step,
  seen: { id: string; version: Version },
  record: RecordEvent | undefined,
  result: ProofResult,
): Promise<void> {
  if (record !== undefined && record.code === null) return;
  const because = record?.detail?.because ?? null;
  if (record?.code === 'not_supported' || record?.code === 'already_exists') {
    const again = await attempt(bench, 'take back', async () => {
      if (step.target === null) return updateStatement(bench.outbox, step, [seen]).execute(bench.db);
      await insertStatement(bench.outbox, { ...step, target: step.target }, [seen], AUTHOR).execute(bench.db);
      return deleteStatement(bench.outbox, step, [seen]).execute(bench.db);
    });
    const reason = again.ok ? record.code : result.row?.made === false ? saidOfReal(again.failure) : said(again.failure);
    throw new Ended('does_not', 'refused_by_table', reason);
  }
  throw new Ended('does_not', 'not_applied', [record?.code ?? 'no record', because].filter((part) => part !== null).join(': '));
}

/** Somebody who saw another version of the row changes nothing: a made-up one, and the one from before the row was touched. */
async function refusesOtherVersions(bench: Bench, operation: Operation, step: Step, id: string, version: Version): Promise<void> {
  const { outbox, db } = bench;
  const forged: Version = { ...version, exact: other(version.exact), stable: other(version.stable) };
  const apply = async (seen: Version): Promise<boolean> =>
    (await applyOperation(outbox, db, operation, [{ id, version: seen }], AUTHOR))[0]?.code === null;
  const withForged = await attempt(bench, 'take back', () => apply(forged));
  if (withForged.ok && withForged.value) throw new Ended('does_not', 'ignores_version');
  const column = Object.keys(step.set).find((name) => step.source.description.columns.has(name));
  if (step.version !== 'exact' || column === undefined || step.source.key === 'archive') return;
  const touched = await attempt(bench, 'take back', async () => {
    await attempt(bench, 'keep', () => touch(bench, step.source, id, column));
    const now = await look(bench, step.source, id);
    return now !== null && versionOf(now).exact !== version.exact && (await apply(version));
  });
  if (touched.ok && touched.value) throw new Ended('does_not', 'ignores_version');
}

/** Writes a column with what it holds: another version of the same row. */
async function touch({ outbox, db }: Bench, place: Place, id: string, column: string): Promise<void> {
  const at = placeSql(outbox, place);
  await sql`update ${at.from} set ${sql.id(column)} = ${at.column(column)} where ${at.id.is(id)}`.execute(db);
}

const other = (text: string): string => text.replace(/.$/, (last) => (last === '1' ? '2' : '1'));

/** The same click again, with what was seen before the first. */
async function refusesASecondTime(
  bench: Bench,
  operation: Operation,
  step: Step,
  seen: { id: string; version: Version },
  result: ProofResult,
): Promise<void> {
  const again = await attempt(
    bench,
    'take back',
    async () => (await applyOperation(bench.outbox, bench.db, operation, [seen], AUTHOR))[0]?.code,
  );
  if (!again.ok || again.value !== null) return;
  // A relay rewrites such rows all the time, so the version covers only what it leaves alone, and the row is where it was.
  if (step.version === 'stable' && step.target === null && result.stateAfter === result.stateBefore)
    result.notes.push({ code: 'repeatable', detail: null });
  else throw new Ended('does_not', 'repeats');
}

/** Restoring puts every column back, but for those that make it dead. */
function expectRestored(bench: Bench, trial: Trial, step: Step, original: Seen, after: Seen): void {
  const lost = Object.keys(original.columns).filter(
    (name) =>
      !(name in step.set) &&
      name in after.columns &&
      original.columns[name] !== after.columns[name] &&
      trial.place.description.columns.get(name)?.generated !== true,
  );
  if (lost.length > 0 && bench.outbox.archive !== null) throw new Ended('does_not', 'not_restored', lost.join(', '));
}

/** A row that the mapping takes for this state although its own rule says that it is out: no operation may bring it back. */
async function onPublishedLookalike(bench: Bench, trial: Trial, result: ProofResult): Promise<void> {
  // Taking such a row out sends nothing twice.
  if (trial.place.key !== 'main' || ['archive', 'restore'].includes(trial.operation)) return;
  const published = bench.outbox.shape.states.filter(({ state }) => state === 'published').map(({ when }) => when);
  if (published.length === 0 || trial.state === 'published') return;
  const tried = await attempt(bench, 'take back', async () => {
    const solutions = solutionsFor(bench, trial, [{ any: published }]);
    const made = await makeRow(bench, trial.place, solutions, (id) => misfit(bench, trial, id));
    const row = made.made ? await look(bench, trial.place, made.id) : null;
    if (row?.event.state !== trial.state) return null;
    const [record] = await applyOperation(
      bench.outbox,
      bench.db,
      operationOf(trial.operation),
      [{ id: row.event.id, version: versionOf(row) }],
      AUTHOR,
    );
    return record?.code === null ? row : null;
  });
  if (!tried.ok || tried.value === null) return;
  const names = bench.outbox.shape.states.flatMap(({ when }) => ('column' in when ? [when.column] : []));
  const values = Object.entries(tried.value.columns).filter(([name]) => names.includes(name));
  Object.assign(result, { before: tried.value.columns, digested: [...contentColumns(trial.place)].sort() });
  throw new Ended('does_not', 'published_matches', values.map(([name, value]) => `${name} = ${value ?? 'NULL'}`).join(', '));
}

function calledBy({ outbox }: Bench, { operation, state }: Trial): string[] {
  const rule = ruleFor(outbox, operation, state);
  return rule !== null && 'version' in rule && rule.call !== undefined ? [rule.call.function] : [];
}

function notesOf(bench: Bench, trial: Trial, step: Step): ProofResult['notes'] {
  const called = calledBy(bench, trial);
  return [
    ...(step.notify === null ? [] : [{ code: 'notified' as const, detail: step.notify.channel }]),
    ...called.map((name) => ({ code: 'called' as const, detail: name })),
  ];
}

/** Of a real row, or one with values of a real one, only what changed is kept: the rest is somebody's data. */
function onlyChanges(result: ProofResult): void {
  const keep = (columns: Record<string, string | null> | null): Record<string, string | null> | null =>
    columns === null ? null : Object.fromEntries(Object.entries(columns).filter(([name]) => result.changed.includes(name)));
  result.before = keep(result.before);
  result.after = keep(result.after);
}
