import type { Config } from '@/lib/config/config';
import { DatabaseFailure } from '@/lib/database/failure';
import { mappingProblems } from '@/lib/outbox/bind';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import { formatPath } from '@/lib/shared/document-path';

/**
 * What is wrong with the mappings somebody wrote, one line per problem by its place in the configuration; [] when nothing
 * is. Looks at the catalogue of each database that answers; one that is away says nothing against a mapping.
 */
export async function misfits(config: Config, directory: OutboxDirectory): Promise<string[]> {
  const found = await Promise.all(
    config.outboxes.map(async (outbox, index) => {
      if (typeof outbox.shape === 'string') return [];
      try {
        const problems = await mappingProblems(directory.settings(outbox.id), directory.database(outbox.id));
        return problems.map(({ path, message }) => `${formatPath(['outboxes', index, ...path])}: ${message}`);
      } catch (error) {
        if (error instanceof DatabaseFailure) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}
