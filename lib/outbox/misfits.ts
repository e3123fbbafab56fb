import { DatabaseFailure } from '@/lib/database/failure';
import { formatPath } from '@/lib/shared/document-path';
import { mappingProblems } from './bind';
import type { OutboxDirectory } from './directory';

/**
 * What is wrong with the mappings somebody wrote, one line per problem by its place in the configuration; [] when nothing
 * is. Looks at the catalogue of each database that answers; one that is away says nothing against a mapping. `place` is
 * the number of an outbox in the configuration, where the directory does not hold them all.
 */
export async function misfits(directory: OutboxDirectory, place = (id: string): number => directory.ids.indexOf(id)): Promise<string[]> {
  const found = await Promise.all(
    directory.ids.map(async (id) => {
      const settings = directory.settings(id);
      if (settings.inline !== true) return [];
      try {
        const problems = await mappingProblems(settings, directory.database(id));
        return problems.map(({ path, message }) => `${formatPath(['outboxes', place(id), ...path])}: ${message}`);
      } catch (error) {
        if (error instanceof DatabaseFailure) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}
