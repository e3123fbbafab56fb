/** Changed rows are read back through the mapping before the commit: a row that is not as promised did not take the change. */
import { sql, type RawBuilder } from 'kysely';
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import { ARCHIVE_COLUMNS } from '@/lib/outbox/companions';
import { allPlaces, tableLabel, type Outbox } from '@/lib/outbox/outbox';
import { placeColumns, type Place } from '@/lib/shape/bound';
import { placeSql } from '@/lib/outbox/rows/row';
import type { Value } from '@/lib/shape/shape';
import { isState, type State } from '@/lib/shared/states';
import type { Change, Step } from './operation';
import { rowImage, sourceName, valueOf, type LockedRow, type PreparedStep } from './statements';

type StepWork = PreparedStep & Pick<Change, 'db'>;
type ChangeWork = StepWork & Pick<Change, 'operation'>;
type ChangedRows = { locked: LockedRow[]; changed: string[]; expectation: Expectation };

type Texts = Record<string, string | null>;

/** Why a row did not take the change: a code under `refusals.<code>`, and the columns, states or tables concerned. */
export interface Fault {
  because: 'not_there' | 'in_two_tables' | 'rewritten' | 'touched_more' | 'other_state';
  detail: string;
}

type Standing = Record<'table' | 'id', string>;

export type ReadBack = Awaited<ReturnType<typeof readBack>>;

/** How a row has to be after the change, as JSON of texts; to be read while it is locked. */
export function expectedImage(prepared: PreparedStep): RawBuilder<string> {
  const texts = watched(prepared).map((name) => ({ name, column: textOf(prepared, name, expected(prepared, name)) }));
  return prepared.outbox.database.engine.fragments.rowAsJson(texts);
}

export interface Expectation {
  /** How each locked row has to be after the change, as JSON of texts. */
  rows: Map<string, string>;
  /** Where else rows were before it; null until somebody needs to know. */
  elsewhere: Standing[] | null;
}

/** Reads the changed rows where they should be now. Deferred triggers must have run already. */
export async function readBack(work: ChangeWork, row: ChangedRows) {
  const { outbox, db, target } = work;
  const found = { faults: new Map<string, Fault>(), images: new Map<string, string>() };
  if (row.changed.length === 0) return found;
  const at = placeSql(outbox, target);
  const texts = watched(work).map((name) => ({ name, column: textOf(work, name, at.column(name)) }));
  const { rows } = await sql<Found>`select ${at.id.text} as id, ${at.state} as state, ${at.roleText('attempts')} as attempts,
      ${rowImage(outbox, at)} as image, ${outbox.database.engine.fragments.rowAsJson(texts)} as watched
    from ${at.from} where ${at.id.among(row.changed)}`.execute(db);
  const afterwards = new Map(rows.map((one) => [one.id, one]));
  const elsewhere = await rowsElsewhere(work, [target], row.changed);
  const locked = new Map(row.locked.map((one) => [one.id, one]));
  for (const id of row.changed) {
    const after = afterwards.get(id);
    const stood = (row.expectation.elsewhere ?? []).filter((one) => one.id === id).map(({ table }) => table);
    const other = elsewhere.find((one) => one.id === id && !stood.includes(one.table));
    const before = locked.get(id);
    const fault: Fault | null =
      after === undefined || before === undefined
        ? { because: 'not_there', detail: tableLabel(target.table) }
        : other !== undefined
          ? { because: 'in_two_tables', detail: other.table }
          : judge(work, { before, after, wanted: row.expectation.rows.get(id) ?? '{}' });
    if (fault !== null) found.faults.set(id, fault);
    if (after !== undefined) found.images.set(id, after.image);
  }
  return found;
}

type Found = Record<'id' | 'state' | 'image' | 'watched', string> & { attempts: string | null };

function judge({ outbox, operation: { key }, step }: ChangeWork, row: { before: LockedRow; after: Found; wanted: string }): Fault | null {
  // Nearly always the same text, and then not worth parsing.
  const differing = row.wanted === row.after.watched ? [] : [row.wanted, row.after.watched];
  const [wanted = {}, found = {}] = differing.map((text) => JSON.parse(text) as Texts);
  const others = Object.keys(wanted).filter((name) => !holds(step.set[name], wanted[name] ?? null, found[name] ?? null));
  const rewritten = others.filter((name) => name in step.set);
  if (rewritten.length > 0) return { because: 'rewritten', detail: rewritten.join(', ') };
  if (others.length > 0) return { because: 'touched_more', detail: others.join(', ') };
  const { image, state } = row.before;
  const from = key === 'restore' ? ((JSON.parse(image) as Texts)[ARCHIVE_COLUMNS.fromState] ?? '') : state;
  if (expectedStates(outbox, key, from, Number(row.after.attempts ?? 0)).includes(row.after.state as State)) return null;
  if (key === 'release' && from === 'processing' && row.after.state === from && mayStayProcessing(outbox, step)) return null;
  return { because: 'other_state', detail: isState(row.after.state) ? row.after.state : 'unmapped' };
}

/** A lease that is cut short leaves the state as it is, where no rule for it asks a column that is written. */
function mayStayProcessing({ shape: { states } }: Outbox, { call, target, set }: Step): boolean {
  const asked = JSON.stringify(states.filter(({ state }) => state === 'processing'));
  return call === null && target === null && !Object.keys(set).some((name) => asked.includes(`"column":${JSON.stringify(name)}`));
}

/** States that an operation may leave an event in, by its state before and its attempts now. */
export function expectedStates(outbox: Outbox, operation: string, from: string, attempts: number): State[] {
  if (operation === 'archive') return ['archived'];
  if (operation === 'restore') {
    // A pending event comes back as dead if the shape has that, so that no relay publishes it unasked.
    if (from === 'dead' || (from === 'pending' && outbox.shape.asDead !== undefined)) return ['dead'];
    // Unchanged, but its time may have run out meanwhile.
    return ['pending', 'retrying', 'dead'];
  }
  // Requeue resets the failures, if the table can show the difference.
  if (operation === 'requeue' && attempts > 0 && capabilitiesOf(outbox).states.pending.available) return ['pending'];
  return ['pending', 'retrying'];
}

/** No intervention's transaction takes longer. */
const CLOCK_MOVES_MS = 15_000;

/** Whether a column holds what it should. On one engine the time advances between two statements. */
function holds(value: Value | undefined, wanted: string | null, found: string | null): boolean {
  if (wanted === found) return true;
  if (wanted === null || found === null || !JSON.stringify(value ?? null).includes('"now"')) return false;
  const [from, to] = [wanted, found].map((text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text)));
  const unitMs = /^\d{1,11}(\.\d+)?$/.test(wanted) ? 1_000 : 1;
  return from !== undefined && to !== undefined && (to - from) * unitMs >= 0 && (to - from) * unitMs <= CLOCK_MOVES_MS;
}

/** Columns that must hold what is written, or what they held: the key and all that the mapping uses, except the last attempt. */
function watched({ outbox, step, target }: PreparedStep): string[] {
  return placeColumns(target).filter((name) => {
    if (name in step.set) return step.call === null;
    if (!step.source.description.columns.has(sourceName(outbox, step, name))) return false;
    const own = Object.entries(target.roles).filter(([, role]) => role.join === null && role.constant === null);
    const roles = own.filter(([, role]) => role.column.name === name);
    if (target.id.some((column) => column.name === name)) return true;
    // What else a library's function writes is its own business.
    if (step.call !== null) return roles.some(([role]) => IDENTITY.includes(role));
    if (roles.some(([role]) => role !== 'attemptedAt')) return true;
    return JSON.stringify(outbox.shape.states).includes(`"column":${JSON.stringify(name)}`);
  });
}

/** Roles by which a relay or a consumer identifies events. */
const IDENTITY = [
  'sequence', 'type', 'topic', 'aggregateType', 'aggregateId', 'orderingKey', 'createdAt', 'dedupKey', 'traceId', 'payload', 'headers',
]; // prettier-ignore

/** What a column will hold, in its precision, computed from the row before the change. */
function expected({ outbox, step, at, target }: PreparedStep, name: string): RawBuilder<unknown> {
  const column = target.description.columns.get(name);
  const set = step.set[name];
  const source = sourceName(outbox, step, name);
  const value = set === undefined ? at.column(source) : valueOf(outbox, target, at, name, set);
  const same = set === undefined && step.source.description.columns.get(source)?.type === column?.type;
  return column === undefined || same ? value : outbox.database.engine.fragments.asColumn(value, column);
}

/** A column's value as text; a digest for payload and headers, which may be long. */
function textOf({ outbox, target }: PreparedStep, name: string, value: RawBuilder<unknown>): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const content = [target.roles.payload, target.roles.headers].some((role) => role?.join === null && role.column.name === name);
  return content ? fragments.stableDigest([value], null) : fragments.asText(value, target.description.columns.get(name));
}

export async function rowsElsewhere({ outbox, db }: StepWork, but: Place[], ids: readonly string[]): Promise<Standing[]> {
  const readings = allPlaces(outbox).flatMap((place) => {
    const table = tableLabel(place.table);
    if (but.some((one) => tableLabel(one.table) === table)) return [];
    const at = placeSql(outbox, place);
    return [sql`select ${sql.lit(table)} as ${sql.id('table')}, ${at.id.text} as id from ${at.from} where ${at.id.among(ids)}`];
  });
  if (readings.length === 0) return [];
  return (await sql<Standing>`${sql.join(readings, sql` union all `)}`.execute(db)).rows;
}
