import { sql } from 'kysely';
import { tableRef } from '@/lib/database/description';
import type { Path } from '@/lib/shared/lists/document-path';
import type { MappingProblem } from '@/lib/shape/bind/table';
import { fewRows } from './few-rows';
import { livePlaces, type Outbox } from '../outbox';
import type { Place } from '@/lib/shape/bound';
import { COLUMN_ROLES, type Shape } from '@/lib/shape/shape';

const ROWS = 20;

/** Since 1970, of times between 1985 and 2286: no number is one in two of them. */
const UNITS = [
  { unit: 'seconds', time: 'epoch_s', from: 5e8 },
  { unit: 'milliseconds', time: 'epoch_ms', from: 5e11 },
  { unit: 'microseconds', time: null, from: 5e14 },
  { unit: 'nanoseconds', time: null, from: 5e17 },
] as const;
const SPAN = 20;
/** What stands for "never" in columns of 64 bits, whatever they count. */
const NEVER = 2 ** 63 - 1;

/**
 * Numbers that a mapping reads as times of one unit, and that are plainly times of another: each date would be wrong by
 * thousands of years. Looks at twenty rows of each table, in no order; [] where that takes too long or is refused.
 */
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
    sql<Record<string, unknown>>`select ${sql.join(names)} from ${tableRef(place.table)} as o limit ${sql.lit(ROWS)}`,
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

/** Where the mapping says how this column spells a time; roles that a dead-letter table does not say for itself are the outbox's. */
function pathOf({ columns, dead }: Shape, { key, roles }: Place, name: string): Path {
  const role = COLUMN_ROLES.find((one) => one !== 'id' && roles[one]?.column.name === name && roles[one].path.length === 0);
  if (role === undefined) return ['shape', 'times', name];
  const own = key === 'dead' && dead?.columns?.[role] !== undefined;
  return ['shape', ...(own || columns[role] === undefined ? ['dead', 'columns'] : ['columns']), role, 'time'];
}
