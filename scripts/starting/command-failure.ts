/** How a command ends when it cannot do what it was asked: a sentence that says what to do, and a status. */
import type { Config } from '@/lib/config/config';
import { openDatabase } from '@/lib/database/database';
import { DatabaseFailure } from '@/lib/database/failure';
import { failureOf } from '@/lib/detection/failure';
import { Problem } from '@/lib/shared/problems';
import { suggestion } from '@/lib/shared/text/suggest';
import { failureSentence } from '../detection/print';

export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** Ends the command with what went wrong and a status. */
export class CommandFailure extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** An id that the configuration does not have is a mistake in the command, and says so before anything is done. */
export function requireOutbox({ outboxes }: Pick<Config, 'outboxes'>, id: string): void {
  const ids = outboxes.map((outbox) => outbox.id);
  if (ids.includes(id)) return;
  const known = ids.length === 0 ? ': it names none yet, and detect finds what to write' : suggestion(id, ids);
  throw new CommandFailure(`There is no outbox ${JSON.stringify(id.slice(0, 80))} in the configuration${known}`, EXIT_USAGE);
}

/** A text that no engine can connect with is a mistake in the command. */
export async function requireLogin(url: string | undefined): Promise<void> {
  if (url === undefined) return;
  try {
    await openDatabase({ id: 'given', url }).close();
  } catch (error) {
    throw new CommandFailure(`--url: ${failureOf(error)?.detail ?? 'this is no connection string'}`, EXIT_USAGE);
  }
}

/** What a login given with `--url` was refused, as a failure of the command; anything else as it is. */
export function ofGivenLogin(error: unknown, lacking: string): unknown {
  const said = databaseSays(error);
  return said === null
    ? error
    : new CommandFailure(`--url: ${said.code === 'no_privilege' ? lacking : failureSentence(said)}`, EXIT_FAILED);
}

/** What went wrong, for standard error: never the driver's own text, which may hold the connection string. */
export function sentenceOf(error: unknown): string {
  const said = databaseSays(error);
  if (said !== null && (said.code === 'connection' || !(error instanceof Problem))) return failureSentence(said);
  return error instanceof Problem ? error.detail : error instanceof Error ? error.message : String(error);
}

function databaseSays(error: unknown): ReturnType<typeof failureOf> {
  const cause = error instanceof Problem ? error.cause : error;
  return cause instanceof DatabaseFailure ? failureOf(cause) : null;
}
