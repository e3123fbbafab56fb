import { sql } from 'kysely';
import { COMPUTE_STATEMENT_MS } from '@/lib/shared/polling';
import type { Store } from '@/lib/store/store';
import type { ReadingRow } from './reading-sql';
import type { Sql } from '@/lib/outbox/scan/sql-terms';

/** Computes the figures of rows that were fetched to it. Throws NotComputed where it cannot. */
export type Compute = (statement: Sql<ReadingRow>) => Promise<ReadingRow | undefined>;

/** The rows of an outbox were read, and nobody computed its figures: the store did not. */
export class NotComputed extends Error {
  override name = 'NotComputed';
}

/** In the console's own store: a computation over a parameter that reads no table of it, and holds its connection for as long. */
export function computeInStore({ db }: Store): Compute {
  return async (statement) => {
    try {
      return await db
        .transaction()
        .setAccessMode('read only')
        .execute(async (transaction) => {
          await sql`select set_config('statement_timeout', ${String(COMPUTE_STATEMENT_MS)}, true), set_config('jit', 'off', true),
            set_config('max_parallel_workers_per_gather', '0', true), set_config('work_mem', '32MB', true)`.execute(transaction);
          const { rows } = await statement.execute(transaction);
          return rows[0];
        });
    } catch (error) {
      throw new NotComputed('the store did not compute the figures', { cause: error });
    }
  };
}
