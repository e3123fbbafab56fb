import type { RawBuilder } from 'kysely';
import type { Database } from '@/lib/database/database';
import { DatabaseFailure } from '@/lib/database/failure';

const STATEMENT_MS = 2_000;

/** The rows of a statement that looks at a few, to hold a mapping against them; none where that takes too long or is refused. */
export async function fewRows<T>(database: Database, statement: RawBuilder<T>): Promise<T[]> {
  try {
    return (await database.read((db) => statement.execute(db), { statementMs: STATEMENT_MS })).rows;
  } catch (error) {
    if (error instanceof DatabaseFailure) return [];
    throw error;
  }
}
