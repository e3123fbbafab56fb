import type { ColumnDescription, TableDescription, TimeEncoding } from '@/lib/database/description';
import type { Path } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';

/** What is wrong with a mapping, and where in it. The path begins in the outbox's own entry: `shape`, `table`, `parameters`. */
export interface MappingProblem {
  path: Path;
  message: string;
  /** About a table that is not there, or that the reader may not read: it may come, and the grant too. */
  absent?: true;
}

export class Problems {
  readonly list: MappingProblem[] = [];

  add(path: Path, message: string): void {
    if (!this.list.some((one) => one.message === message && one.path.join('.') === path.join('.'))) this.list.push({ path, message });
  }
}

/** What a written name is in a catalogue: one name, several that fit as well as each other, or none. */
export type Found = { name: string } | { several: string[] } | null;

const squeezed = (name: string): string => name.toLowerCase().replaceAll('_', '');

/** Exactly, then without regard to case, then without underscores (`CreatedAt`, `created_at`, `createdat`), where only one fits. */
export function findName(written: string, known: Iterable<string>): Found {
  const names = [...known];
  if (names.includes(written)) return { name: written };
  for (const same of [(name: string) => name.toLowerCase(), squeezed]) {
    const fitting = names.filter((name) => same(name) === same(written));
    const [only] = fitting;
    if (fitting.length > 1) return { several: fitting };
    if (only !== undefined) return { name: only };
  }
  return null;
}

/** The columns of a table by the names a shape gives them. */
export class BoundTable {
  private readonly resolved = new Map<string, ColumnDescription | null>();

  constructor(
    readonly description: TableDescription,
    private readonly optional: ReadonlySet<string> | 'all',
    private readonly problems: Problems,
    /** The table is as a library made it, or as somebody made the library's: not all that the shape says of its types must be so. */
    private readonly lenient = false,
  ) {}

  /** The column of this name as the catalogue writes it; null without one, or where several fit. Notes nothing. */
  find(name: string): ColumnDescription | null {
    const known = this.resolved.get(name);
    if (known !== undefined) return known;
    const found = findName(name, this.description.columns.keys());
    const column = found !== null && 'name' in found ? (this.description.columns.get(found.name) ?? null) : null;
    this.resolved.set(name, column);
    return column;
  }

  /** The same, noting what is wrong with a name that must be there. */
  resolve(name: string, path: Path): ColumnDescription | null {
    const column = this.find(name);
    if (column !== null || this.lacks(name)) return column;
    const names = [...this.description.columns.keys()];
    const found = findName(name, names);
    const several = found !== null && 'several' in found ? found.several.join(', ') : null;
    if (several === null) this.problems.add(path, `the table has no column "${name}"${suggestion(name, names)}`);
    else this.problems.add(path, `several columns fit "${name}": ${several}; write the one that is meant exactly`);
    return null;
  }

  /** Whether no column fits, and the shape allows for that. */
  lacks(name: string): boolean {
    return (this.optional === 'all' || this.optional.has(name)) && findName(name, this.description.columns.keys()) === null;
  }

  /** Notes how a column encodes a time, where its type does not show it. */
  setEncoding(name: string, time: 'auto' | TimeEncoding, path: Path): void {
    const column = this.find(name);
    if (column === null || time === 'auto') return;
    // A time that knows its zone needs no word that it is UTC.
    if (this.lenient && time === 'utc' && column.kind === 'instant') return;
    const problem = encodingProblem(column, time);
    if (problem !== null) {
      this.problems.add(path, problem);
      return;
    }
    const encoded = { ...column, time };
    this.description.columns.set(column.name, encoded);
    this.resolved.set(name, encoded);
  }
}

/** A description of its own to note the encoding of times in; the catalogue's stays as it is. */
export function ownDescription(description: TableDescription): TableDescription {
  return { ...description, columns: new Map(description.columns) };
}

function encodingProblem({ name, type, kind }: ColumnDescription, time: TimeEncoding): string | null {
  if (time === 'utc' && kind !== 'wall_clock')
    return `utc is for times without a zone, and "${name}" is ${type}: leave it out, or write epoch_ms, epoch_s or iso`;
  if ((time === 'epoch_ms' || time === 'epoch_s') && !['integer', 'decimal', 'text'].includes(kind))
    return `${time} is for numbers, and "${name}" is ${type}: leave it out`;
  if (time === 'iso' && kind !== 'text') return `iso is for texts, and "${name}" is ${type}: leave it out`;
  return null;
}
