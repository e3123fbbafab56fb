/** An event's id is one text. If it has several columns, `%` and `~` are percent-encoded in each part, and `~` joins the parts. */
import { sql, type RawBuilder } from 'kysely';
import type { Direction } from '@/lib/database/description';
import type { Engine } from '@/lib/database/engine';
import type { Place } from '@/lib/shape/bound';
import { and, or } from '@/lib/shape/compile';

export type RowId = ReturnType<typeof rowId>;

/** The parts of an id, one per column; null if it does not have as many. */
export function idParts(id: string, count: number): string[] | null {
  if (count === 1) return [id];
  const parts = id.split('~');
  if (parts.length !== count || parts.some((part) => /%(?!25|7E)/.test(part))) return null;
  return parts.map((part) => part.replaceAll('%7E', '~').replaceAll('%25', '%'));
}

export function idText(parts: readonly string[]): string {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return parts.map((part) => part.replaceAll('%', '%25').replaceAll('~', '%7E')).join('~');
}

/** Whether a text can be an id of this table; if not, it counts as not found. */
export function idFits(engine: Engine, place: Place, id: string): boolean {
  const parts = place.id.length === 0 ? null : idParts(id, place.id.length);
  return parts !== null && place.id.every((column, index) => engine.idFits(parts[index] ?? '', column));
}

/** SQL on the columns that identify a row; comparisons with a text that cannot be an id of this table are false. */
export function rowId(engine: Engine, place: Place, alias: string) {
  const { fragments } = engine;
  const columns = place.id.map((description) => ({ sql: sql.id(alias, description.name), description }));
  /** Values to compare each column with; null for a text that cannot be an id of this table. */
  const values = (id: string): RawBuilder<unknown>[] | null => {
    if (!idFits(engine, place, id)) return null;
    const parts = idParts(id, columns.length) ?? [];
    return columns.map(({ description }, index) => fragments.typed(parts[index] ?? '', description));
  };
  const among = (ids: readonly string[]): RawBuilder<boolean> => {
    const fitting = ids.filter((id) => idFits(engine, place, id)).map((id) => idParts(id, columns.length) ?? []);
    const [first, ...others] = columns;
    if (fitting.length === 0 || first === undefined) return sql`false`;
    const equal = ({ sql: column, description }: (typeof columns)[number], wanted: string[]): RawBuilder<boolean> =>
      fragments.isOneOf(column, wanted, description);
    const parts = fitting.map((row) => row[0] ?? '');
    const isMany = parts.length > 1;
    if (others.length === 0) return (isMany ? fragments.isAnyOf(first.sql, parts, first.description) : null) ?? equal(first, parts);
    const together = isMany ? fragments.isRowOf(columns, fitting) : null;
    if (together !== null) return together;
    const rows = fitting.map((row) => sql<boolean>`(${and(columns.map((column, index) => equal(column, [row[index] ?? ''])))})`);
    return sql`(${or(rows)})`;
  };
  return {
    columns,
    text: textOf(columns.map((column) => fragments.asText(column.sql, column.description))),
    values,
    among,
    is: (id: string) => among([id]),
    order: (direction: Direction): RawBuilder<unknown> =>
      columns.length === 0 ? sql`null` : sql.join(columns.map((column) => sql`${column.sql} ${sql.raw(direction)}`)),
  };
}

/** `idText`, computed by the database. */
function textOf(parts: RawBuilder<string | null>[]): RawBuilder<string> {
  const [only] = parts;
  if (only === undefined) return sql`cast(null as char(1))`;
  if (parts.length === 1) return only as RawBuilder<string>;
  const encoded = parts.map((part) => sql`replace(replace(${part}, '%', '%25'), '~', '%7E')`);
  return sql`concat(${sql.join(encoded, sql`, '~', `)})`;
}
