import 'server-only';
import type { Database } from '@/lib/database/database';
import { expectedFailure } from '@/lib/detection/failure';
import { configuredTables, detectOutboxes, examineTable } from '@/lib/detection/detect';
import type { Examination } from '@/lib/shared/detection';
import { Problem } from '@/lib/shared/problems';
import type { LiveState } from '@/lib/shared/states';
import type { Context } from '../context';

const SAMPLE_ROWS = 5;

/** The candidates of a configured database, read with its reader's login. Throws Problem `not_found` for an unknown database. */
export async function readDetection(context: Context, databaseId: string) {
  const database = databaseOf(context, databaseId);
  const configured = configuredTables(context.console.config, databaseId);
  try {
    return { detection: await detectOutboxes(database, { configured }), failure: null };
  } catch (error) {
    return { detection: null, failure: expectedFailure(error) };
  }
}

/** One candidate in detail, with the states that a person chose for its status values. Throws Problem `not_found`. */
export function readExamination(
  context: Context,
  databaseId: string,
  table: { schema: string; table: string },
  confirmed: Readonly<Record<string, LiveState | null>>,
): Promise<Examination> {
  const { config } = context.console;
  const how = { database: databaseId, taken: config.outboxes.map(({ id }) => id), rows: SAMPLE_ROWS, confirmed };
  return examineTable(databaseOf(context, databaseId), table, { configured: configuredTables(config, databaseId) }, how);
}

function databaseOf({ console }: Context, id: string): Database {
  const found = console.directory.databases.find((database) => database.id === id);
  if (found === undefined) throw new Problem('not_found', 'There is no database of this name in the configuration');
  return found;
}
