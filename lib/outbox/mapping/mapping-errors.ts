import type { Database } from '@/lib/database/database';
import { DatabaseFailure, type FailureCode } from '@/lib/database/failure';
import { formatPath } from '@/lib/shared/lists/document-path';
import { groupBy } from '@/lib/shared/group-by';
import { mappingProblems } from '../bind';
import type { MappingProblem } from '@/lib/shape/bind/table';
import type { OutboxDirectory } from '../directory';
import { tableText } from '@/lib/shape/schema/names';
import type { OutboxSettings } from '../outbox';

/** After one of these the database's other outboxes are skipped: each would delay the start again. */
const UNREACHABLE: readonly FailureCode[] = ['connection', 'timeout', 'busy'];

/** What does not fit between tables and mappings, a line per problem; an unreachable database reports none. */
export async function mappingErrors(
  directory: OutboxDirectory,
  /** An outbox's index in the configuration. */
  place = (id: string): number => directory.ids.indexOf(id),
): Promise<string[]> {
  const byDatabase = groupBy(directory.ids, (id) => directory.database(id));
  const lines = new Map<string, string[]>();
  const lookThrough = async (database: Database, ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      try {
        lines.set(id, await linesOf(directory.settings(id), database, place(id)));
      } catch (error) {
        if (!(error instanceof DatabaseFailure)) throw error;
        if (UNREACHABLE.includes(error.code)) return;
      }
    }
  };
  await Promise.all([...byDatabase].map(([database, ids]) => lookThrough(database, ids)));
  return directory.ids.flatMap((id) => lines.get(id) ?? []);
}

async function linesOf(settings: OutboxSettings, database: Database, place: number): Promise<string[]> {
  const problems = await mappingProblems(settings, database);
  return settings.inline
    ? problems.map(({ path, message }) => `${formatPath(['outboxes', place, ...path])}: outbox ${settings.id}: ${message}`)
    : // A missing table is an error only in an inline mapping.
      problems.filter(({ absent }) => absent !== true).map((problem) => builtInLine(settings, place, problem));
}

/** A built-in shape is not in the file: the problem is reported at its key, and names the part. */
function builtInLine({ id, shape, table }: OutboxSettings, place: number, { path, message }: MappingProblem): string {
  const own = path[0] === 'shape';
  const at = `${formatPath(['outboxes', place, ...(own ? ['shape'] : path)])}: outbox ${id}`;
  return own ? `${at}: table ${tableText(table)} does not fit ${shape.key}: ${formatPath(path.slice(1))}: ${message}` : `${at}: ${message}`;
}
