import type { ColumnDescription, TableDescription, TimeEncoding } from '@/lib/database/engine';
import type { Path } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';
import { findName } from './lookup';
import type { Problems } from './problems';

/** A column that was asked for: found, or missing where the shape allows for it, or a problem that was noted. */
export type Asked = { column: ColumnDescription } | 'absent' | 'wrong';

/** The columns of a table by the names a shape gives them. */
export class BoundTable {
  private readonly asked = new Map<string, ColumnDescription | null>();

  constructor(
    readonly description: TableDescription,
    /** Names the shape says the table may lack. */
    private readonly optional: ReadonlySet<string> | 'all',
    private readonly problems: Problems,
    /** The table is as a library made it, or as somebody made the library's: not everything said of its types must be so. */
    private readonly lenient = false,
  ) {}

  /** The column of this name in the catalogue's spelling; null without one, or where several fit. Notes nothing. */
  find(name: string): ColumnDescription | null {
    const known = this.asked.get(name);
    if (known !== undefined) return known;
    const found = findName(name, this.description.columns.keys());
    const column = found !== null && 'name' in found ? (this.description.columns.get(found.name) ?? null) : null;
    this.asked.set(name, column);
    return column;
  }

  /** The same, noting what is wrong with a name that must be there. */
  ask(name: string, path: Path): Asked {
    const column = this.find(name);
    if (column !== null) return { column };
    const names = [...this.description.columns.keys()];
    const found = findName(name, names);
    if (found !== null && 'several' in found) {
      this.problems.add(path, `several columns fit "${name}": ${found.several.join(', ')}; write the one that is meant exactly`);
      return 'wrong';
    }
    if (this.optional === 'all' || this.optional.has(name)) return 'absent';
    this.problems.add(path, `the table has no column "${name}"${suggestion(name, names)}`);
    return 'wrong';
  }

  /** Says how a column spells a time, where its type does not tell. */
  spell(name: string, time: 'auto' | TimeEncoding, path: Path): void {
    const column = this.find(name);
    if (column === null || time === 'auto') return;
    // A time that knows its zone needs nobody to say that it is UTC.
    if (this.lenient && time === 'utc' && column.kind === 'instant') return;
    const problem = misspelt(column, time);
    if (problem !== null) {
      this.problems.add(path, problem);
      return;
    }
    const spelt = { ...column, time };
    this.description.columns.set(column.name, spelt);
    this.asked.set(name, spelt);
  }
}

/** A description of its own to note the spelling of times in; the catalogue's stays as it is. */
export function ownDescription(description: TableDescription): TableDescription {
  return { ...description, columns: new Map(description.columns) };
}

function misspelt({ name, type, kind }: ColumnDescription, time: TimeEncoding): string | null {
  if (time === 'utc' && kind !== 'wall_clock')
    return `utc is for times without a zone, and "${name}" is ${type}: leave it out, or write epoch_ms, epoch_s or iso`;
  if ((time === 'epoch_ms' || time === 'epoch_s') && !['integer', 'decimal', 'text'].includes(kind))
    return `${time} is for numbers, and "${name}" is ${type}: leave it out`;
  if (time === 'iso' && kind !== 'text') return `iso is for texts, and "${name}" is ${type}: leave it out`;
  return null;
}
