import type { ColumnDescription, HeldInBytes, TableDescription, TimeEncoding } from '@/lib/database/description';
import type { Path } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';

/** A problem of a mapping and its path, which starts in the outbox's entry: `shape`, `table`, `parameters`. */
export interface MappingProblem {
  path: Path;
  message: string;
  /** A table does not exist or may not be read: this can change without the mapping. */
  absent?: true;
}

export class Problems {
  readonly list: MappingProblem[] = [];

  add(path: Path, message: string): void {
    if (!this.list.some((one) => one.message === message && one.path.join('.') === path.join('.'))) this.list.push({ path, message });
  }
}

const squeezed = (name: string): string => name.toLowerCase().replaceAll('_', '');

/** What a written name matches in a catalogue: one name, several equally well, or none. Matches exactly, then ignoring case, then ignoring underscores too (`CreatedAt`, `created_at`, `createdat`), if only one fits. */
export function findName(written: string, known: Iterable<string>): { name: string } | { several: string[] } | null {
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

/** A table's columns by the names a shape uses. */
export class BoundTable {
  private readonly resolved = new Map<string, ColumnDescription | null>();

  constructor(
    readonly description: TableDescription,
    private readonly optional: ReadonlySet<string> | 'all',
    private readonly problems: Problems,
    /** For built-in shapes: the table's column types may differ from what the shape says. */
    private readonly lenient = false,
  ) {}

  /** The column of this name; null if none or several fit. Reports nothing. */
  find(name: string): ColumnDescription | null {
    const known = this.resolved.get(name);
    if (known !== undefined) return known;
    const found = findName(name, this.description.columns.keys());
    const column = found !== null && 'name' in found ? (this.description.columns.get(found.name) ?? null) : null;
    this.resolved.set(name, column);
    return column;
  }

  /** As `find`, but reports a problem unless the column may be missing. */
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

  /** Whether no column fits and the shape allows that. */
  lacks(name: string): boolean {
    return (this.optional === 'all' || this.optional.has(name)) && findName(name, this.description.columns.keys()) === null;
  }

  /** Sets how a column encodes a time, if its type does not show it, or what its bytes hold. */
  setEncoding(name: string, encoding: 'auto' | TimeEncoding | HeldInBytes | undefined, path: Path): void {
    const column = this.find(name);
    if (column === null || encoding === undefined || encoding === 'auto') return;
    // A type with a time zone needs no encoding `utc`.
    if (this.lenient && encoding === 'utc' && column.kind === 'instant') return;
    const problem = encodingProblem(column, encoding);
    if (problem !== null) return this.problems.add(path, problem);
    const encoded = isHeld(encoding) ? { ...column, holds: encoding } : { ...column, time: encoding };
    this.description.columns.set(column.name, encoded);
    this.resolved.set(name, encoded);
  }
}

const isHeld = (encoding: string): encoding is HeldInBytes => encoding === 'text' || encoding === 'uuid';

/** A copy in which encodings can be set; the catalogue's description stays unchanged. */
export function ownDescription(description: TableDescription): TableDescription {
  return { ...description, columns: new Map(description.columns) };
}

function encodingProblem({ name, type, kind }: ColumnDescription, time: TimeEncoding | HeldInBytes): string | null {
  if (isHeld(time) && kind !== 'binary') return `${time} is for columns of bytes, and "${name}" is ${type}: leave it out`;
  if (time === 'text' && /^binary\b/i.test(type))
    return `"${name}" is ${type}, which fills texts up with zeros: write uuid, or leave it out`;
  if (time === 'utc' && kind !== 'wall_clock')
    return `utc is for times without a zone, and "${name}" is ${type}: leave it out, or write epoch_ms, epoch_s or iso`;
  if ((time === 'epoch_ms' || time === 'epoch_s') && !['integer', 'decimal', 'text'].includes(kind))
    return `${time} is for numbers, and "${name}" is ${type}: leave it out`;
  if (time === 'iso' && kind !== 'text') return `iso is for texts, and "${name}" is ${type}: leave it out`;
  return null;
}
