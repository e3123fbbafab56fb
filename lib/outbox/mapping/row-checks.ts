import { type RawBuilder, sql } from 'kysely';
import type { Database } from '@/lib/database/database';
import { tableRef } from '@/lib/database/description';
import { DatabaseFailure, failureAs } from '@/lib/database/failure';
import type { MappingProblem } from '@/lib/shape/bind/table';
import type { Place } from '@/lib/shape/bound';
import { compileCondition } from '@/lib/shape/compile';
import { VALUE_ROLES, type Shape } from '@/lib/shape/shape';
import type { Path } from '@/lib/shared/lists/document-path';
import { uniqueIndexes } from '../indexes/index-fit';
import { mergedRows } from '../lists/sql';
import { listOf } from '../lists/walks';
import { livePlaces, type Outbox } from '../outbox';
import { placeSql } from '../rows/row';

const STATEMENT_MS = 2_000;

/** Runs a statement that reads a few rows, within two seconds; [] if it takes longer or fails. */
export async function fewRows<T>(database: Database, statement: RawBuilder<T>): Promise<T[]> {
  const read = database.read((db) => statement.execute(db), { statementMs: STATEMENT_MS });
  return (await read.catch(failureAs({ rows: [] }))).rows;
}

/** Failures that a mapping can cause; a missing privilege is reported elsewhere. */
const AGAINST_STATEMENT: DatabaseFailure['code'][] = ['other', 'outdated', 'bad_value', 'missing'];

/** The parts of a mapping that the database refuses to read, tried without reading a row; [] for none. Throws DatabaseFailure. */
export async function refusedReadings(outbox: Outbox): Promise<MappingProblem[]> {
  const { walks } = listOf(outbox, {});
  const page = mergedRows(outbox, walks, { stretch: 'keyed', direction: 'desc', after: null, until: null, limit: 0 });
  const whole = page === null ? null : await refusal(outbox, page);
  if (whole === null) return [];
  const found: MappingProblem[] = [];
  for (const { path, statement } of partsOf(outbox)) {
    const message = await refusal(outbox, statement);
    if (message !== null) found.push({ path, message });
  }
  return found.length > 0 ? found : [{ path: ['shape'], message: whole }];
}

function partsOf(outbox: Outbox): { path: Path; statement: RawBuilder<unknown> }[] {
  const { shape, main, scope } = outbox;
  const at = placeSql(outbox, main);
  const tested = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`select 1 from ${at.from} where (${condition}) and 1 = 0`;
  return [
    ...shape.states.map(({ when }, index) => ({
      path: ['shape', 'states', index, 'when'],
      statement: tested(compileCondition(when, at.alias, scope)),
    })),
    ...(at.rows === null ? [] : [{ path: ['shape', 'rows'], statement: tested(at.rows) }]),
    ...livePlaces(outbox).flatMap((place) => {
      const columns = placeSql(outbox, place);
      const above = place.key === 'main' ? ['shape', 'columns'] : ['shape', 'dead', 'columns'];
      return VALUE_ROLES.filter((role) => place.roles[role] !== undefined).map((role) => ({
        path: [...above, role],
        statement: sql`select ${columns.roleText(role)} from ${columns.from} where 1 = 0`,
      }));
    }),
  ];
}

/** The database's error for a statement; null if it accepts it. No row is read, so the message can quote only the mapping. */
async function refusal(outbox: Outbox, statement: RawBuilder<unknown>): Promise<string | null> {
  try {
    await outbox.database.read((db) => statement.execute(db));
    return null;
  } catch (error) {
    if (!(error instanceof DatabaseFailure) || !AGAINST_STATEMENT.includes(error.code)) throw error;
    const said = error.cause instanceof Error ? error.cause.message : (error.state ?? error.code);
    return `the database cannot read the table this way: ${said}${error.outdated === null ? '; name another column, or leave it out' : ` (${error.outdated})`}`;
  }
}

const TIMES_ROWS = 20;

/** Numbers since 1970 of times between 1985 and 2286: these ranges do not overlap. */
const UNITS = [
  { unit: 'seconds', time: 'epoch_s', from: 5e8 },
  { unit: 'milliseconds', time: 'epoch_ms', from: 5e11 },
  { unit: 'microseconds', time: null, from: 5e14 },
  { unit: 'nanoseconds', time: null, from: 5e17 },
] as const;
const SPAN = 20;
/** Stands for "never" in 64-bit columns, whatever their unit. */
const NEVER = 2 ** 63 - 1;

/** Columns read as times of one unit whose numbers are clearly of another, by 20 rows per table; [] if that is uncertain. */
export async function implausibleTimes(outbox: Outbox): Promise<MappingProblem[]> {
  const found: MappingProblem[] = [];
  for (const place of livePlaces(outbox)) found.push(...(await ofPlace(outbox, place)));
  return found;
}

async function ofPlace({ database, shape }: Outbox, place: Place): Promise<MappingProblem[]> {
  const columns = [...place.description.columns.values()].filter(({ time }) => time === 'epoch_ms' || time === 'epoch_s');
  if (columns.length === 0) return [];
  const names = columns.map(({ name }, index) => sql`${sql.id('o', name)} as ${sql.id(`t${index}`)}`);
  const rows = await fewRows(
    database,
    sql<Record<string, unknown>>`select ${sql.join(names)} from ${tableRef(place.table)} as o limit ${sql.lit(TIMES_ROWS)}`,
  );
  return columns.flatMap(({ name, time }, index) => {
    const numbers = rows.flatMap((row) => (row[`t${index}`] == null ? [] : [Number(row[`t${index}`])])).filter((number) => number < NEVER);
    const [first] = numbers;
    if (first === undefined) return [];
    const meant = UNITS.find(({ from }) => numbers.every((number) => number >= from && number < from * SPAN));
    if (meant === undefined || meant.time === time) return [];
    const cure = meant.time === null ? 'name a column of milliseconds, for instance a generated one' : `write ${meant.time}`;
    const message = `"${name}" holds numbers such as ${first}, which are ${meant.unit} since 1970: ${cure}`;
    return [{ path: pathOf(shape, place, name), message }];
  });
}

/** Where the mapping says how this column spells a time; the dead-letter table inherits roles it does not define. */
function pathOf({ columns, dead }: Shape, { key, roles }: Place, name: string): Path {
  const role = VALUE_ROLES.find((one) => roles[one]?.column.name === name && roles[one].path.length === 0);
  if (role === undefined) return ['shape', 'times', name];
  const own = key === 'dead' && dead?.columns?.[role] !== undefined;
  return ['shape', ...(own || columns[role] === undefined ? ['dead', 'columns'] : ['columns']), role, 'time'];
}

const IDS_ROWS = 500;
type WithId = { id: string | null };

/** An id shared by several of 500 rows, if no key makes it unique; [] also if the rows cannot be read in time. */
export async function sharedIds(outbox: Outbox): Promise<MappingProblem[]> {
  const { main, database } = outbox;
  if (isUnique(main)) return [];
  const at = placeSql(outbox, main);
  const events = at.rows === null ? sql`` : sql`where ${at.rows}`;
  const rows = await fewRows(database, sql<WithId>`select ${at.id.text} as id from ${at.from} ${events} limit ${sql.lit(IDS_ROWS)}`);
  const ids = rows.flatMap(({ id }) => (id === null ? [] : [id]));
  const shared = ids.find((id, index) => ids.indexOf(id) < index);
  if (shared === undefined) return [];
  const [key] = uniqueIndexes(main);
  const hint = key === undefined ? '' : `; the table's key is ${key.columns.join(', ')}`;
  const message = `several rows have the id ${shared}, and would be taken for each other: name the columns that tell them apart${hint}`;
  return [{ path: ['shape', 'columns', 'id'], message }];
}

const DEAD_ROWS = 20;

/** Whether dead letters are in the outbox too and count twice: at least half of 20, the newest if readable, as older ones may be purged. */
export async function sharedDead(outbox: Outbox): Promise<boolean> {
  const { main, dead, database } = outbox;
  if (dead === null) return false;
  const here = placeSql(outbox, main);
  const walks = listOf(outbox, { state: ['dead'] }).walks.filter(({ at }) => at.place === dead);
  const newest = mergedRows(outbox, walks, { stretch: 'keyed', direction: 'desc', after: null, until: null, limit: DEAD_ROWS });
  const there = placeSql(outbox, dead);
  const some = newest === null ? [] : await fewRows(database, newest);
  // Without an index or times, any of them.
  const read =
    some.length > 0
      ? some
      : await fewRows(database, sql<WithId>`select ${there.id.text} as id from ${there.from} limit ${sql.lit(DEAD_ROWS)}`);
  const ids = read.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) return false;
  const both = await fewRows(database, sql<WithId>`select ${here.id.text} as id from ${here.from} where ${here.id.among(ids)}`);
  return both.length * 2 >= ids.length;
}

function isUnique(place: Place): boolean {
  const names = new Set(place.id.map(({ name }) => name));
  return names.size === 0 || uniqueIndexes(place).some(({ columns }) => columns.length > 0 && columns.every((column) => names.has(column)));
}
