import type { Path } from '@/lib/shared/lists/document-path';

/** What is wrong with a mapping, and where in it. The path begins in the outbox's own entry: `shape`, `table`, `parameters`. */
export interface MappingProblem {
  path: Path;
  message: string;
  /** About a table that is not there, or that the reader may not read: it may come, and the grant too. */
  absent?: true;
}

/** Gathers what is wrong, so that all of it is said at once. */
export class Problems {
  readonly list: MappingProblem[] = [];

  add(path: Path, message: string): void {
    if (!this.list.some((one) => one.message === message && one.path.join('.') === path.join('.'))) this.list.push({ path, message });
  }
}
