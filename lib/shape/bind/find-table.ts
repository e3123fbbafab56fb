import type { Engine } from '@/lib/database/engine';
import type { Db, TableDescription } from '@/lib/database/description';
import type { Path } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';
import { groupsOf, tableParts, tableText, type TableRef } from '../schema/names';
import type { Shape } from '../shape';
import { findName, type MappingProblem } from './table';
import type { Captured } from './condition';

type TableFound = { description: TableDescription } | { problem: MappingProblem };

const NAMES_SHOWN = 12;

/** Finds the exact name, otherwise the only name equal but for case and underscores; in the reference's schema, or in `where`. */
export async function findTable(db: Db, engine: Engine, ref: TableRef, where: string | null, path: Path): Promise<TableFound> {
  const written = tableParts(ref);
  const schema = written.schema ?? where;
  const exact = await engine.describe(db, { schema, table: written.table });
  if (exact !== null) return { description: exact };
  const known = await engine.tableNames(db, schema);
  const found = findName(written.table, new Set(known));
  if (found !== null && 'name' in found) {
    const description = await engine.describe(db, { schema, table: found.name });
    if (description !== null) return { description };
  }
  const hint =
    found !== null && 'several' in found
      ? `; several fit: ${found.several.join(', ')}; write the one that is meant exactly`
      : suggestion(written.table, known).replace(/^; known: .*/, known.length > NAMES_SHOWN ? '' : '$&');
  return {
    problem: { path, message: `table ${tableText(ref)} does not exist, or the reader needs GRANT SELECT on it${hint}`, absent: true },
  };
}

/** What the shape's pattern captures of a table's name; for a built-in shape under another name, that name for each group. */
export function capturedOf(shape: Shape, table: string, inline: boolean): Captured {
  const { pattern } = shape.match ?? {};
  if (pattern === undefined) return {};
  const found = new RegExp(pattern, 'iu').exec(table);
  if (found !== null || inline) return { ...found?.groups };
  return Object.fromEntries(groupsOf(pattern).map((name) => [name, table]));
}

export function filledName(ref: TableRef, captured: Captured): TableRef {
  const fill = (text: string): string => text.replace(/\{([^{}]+)\}/g, (whole, name: string) => captured[name] ?? whole);
  return typeof ref === 'string' ? fill(ref) : { ...ref, table: fill(ref.table) };
}
