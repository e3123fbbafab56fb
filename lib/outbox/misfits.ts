import { DatabaseFailure } from '@/lib/database/failure';
import { formatPath } from '@/lib/shared/document-path';
import { mappingProblems } from './bind';
import type { MappingProblem } from './binding/problems';
import type { OutboxDirectory } from './directory';
import { tableText } from './language/names';
import type { OutboxSettings } from './outbox';

/**
 * What the tables say against the shapes put onto them, one line per problem by its place in the configuration; [] when
 * nothing is wrong. Looks at the catalogue of each database that answers; one that is away says nothing against a shape. A
 * table that is not there is a slip of who wrote a mapping for it, and the service's own matter where the shape is built in.
 * `place` is the number of an outbox in the configuration, where the directory does not hold them all.
 */
export async function misfits(directory: OutboxDirectory, place = (id: string): number => directory.ids.indexOf(id)): Promise<string[]> {
  const found = await Promise.all(
    directory.ids.map(async (id) => {
      const settings = directory.settings(id);
      try {
        const problems = await mappingProblems(settings, directory.database(id));
        return settings.inline
          ? problems.map(({ path, message }) => `${formatPath(['outboxes', place(id), ...path])}: ${message}`)
          : problems.filter(({ absent }) => absent !== true).map((problem) => builtInLine(settings, place(id), problem));
      } catch (error) {
        if (error instanceof DatabaseFailure) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}

/** The parts of a built-in shape stand nowhere in the file: the line is at its key, and names the part. */
function builtInLine({ shape, table }: OutboxSettings, place: number, { path, message }: MappingProblem): string {
  const own = path[0] === 'shape';
  const at = formatPath(['outboxes', place, ...(own ? ['shape'] : path)]);
  return own ? `${at}: table ${tableText(table)} does not fit ${shape.key}: ${formatPath(path.slice(1))}: ${message}` : `${at}: ${message}`;
}
