import { sql } from 'kysely';
import type { MappingProblem } from '@/lib/shape/bind/table';
import { fewRows } from './few-rows';
import type { Outbox } from '../outbox';
import type { Place } from '@/lib/shape/bound';
import { placeSql } from '../rows/row';

const ROWS = 500;

/**
 * An id that rows share, so that they would be taken for each other. Looks at five hundred rows, in no order, and only where no
 * key of the table makes the id unique; [] where that takes too long or is refused. Ids that merely could be shared are no
 * mistake of the mapping: a number that only partitions keep from being a key, a UUID beside a key.
 */
export async function sharedIds(outbox: Outbox): Promise<MappingProblem[]> {
  const { main, database } = outbox;
  if (isUnique(main)) return [];
  const at = placeSql(outbox, main);
  const events = at.rows === null ? sql`` : sql`where ${at.rows}`;
  const rows = await fewRows(
    database,
    sql<{ id: string | null }>`select ${at.id.text} as id from ${at.from} ${events} limit ${sql.lit(ROWS)}`,
  );
  const ids = rows.flatMap(({ id }) => (id === null ? [] : [id]));
  const shared = ids.find((id, index) => ids.indexOf(id) < index);
  if (shared === undefined) return [];
  const message = `several rows have the id ${shared}, and would be taken for each other: name the columns that tell them apart${keyOf(main)}`;
  return [{ path: ['shape', 'columns', 'id'], message }];
}

const uniqueKeys = ({ description }: Place): string[][] =>
  description.indexes.filter(({ unique, predicate }) => unique && predicate === null).map(({ columns }) => columns);

function isUnique(place: Place): boolean {
  const names = new Set(place.id.map(({ name }) => name));
  return names.size === 0 || uniqueKeys(place).some((columns) => columns.length > 0 && columns.every((column) => names.has(column)));
}

function keyOf(place: Place): string {
  const [key] = uniqueKeys(place);
  return key === undefined ? '' : `; the table's key is ${key.join(', ')}`;
}
