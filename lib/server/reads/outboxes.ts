import 'server-only';
import { DatabaseFailure } from '@/lib/database/failure';
import { hasOperations } from '@/lib/outbox/capabilities';
import { outboxInfo, unreachableInfo, whyUnread } from '@/lib/outbox/outbox-info';
import { databaseProblem } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import type { OutboxInfo } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { Console } from '../console';
import type { Context } from '../context';

/** Runs `work` on an outbox; a failure of its database becomes a Problem for operators. */
export async function onOutbox<T>(context: Pick<Context, 'console'>, outboxId: string, work: (outbox: Outbox) => Promise<T>): Promise<T> {
  const outbox = await context.console.directory.get(outboxId);
  try {
    return await work(outbox);
  } catch (error) {
    if (!(error instanceof DatabaseFailure)) throw error;
    // The table may have changed since it was bound: the next call binds it anew.
    if (error.code === 'missing') context.console.directory.forget(outboxId);
    throw databaseProblem(error, outbox.database.id);
  }
}

/** One outbox, even if its database is unreachable. Throws Problem `not_found`. */
export async function readOutboxInfo(console: Console, id: string): Promise<OutboxInfo> {
  console.directory.settings(id);
  try {
    return outboxInfo(await console.directory.get(id));
  } catch (error) {
    if (!(error instanceof Problem)) console.log.warn({ outbox: id, err: error }, 'the outbox could not be looked at');
    return unreachableInfo(console.directory, id, whyUnread(error));
  }
}

/** Whether an outbox could ever be changed from here: by configuration and shape alone. */
export const isChangeable = ({ directory }: Console, id: string): boolean =>
  directory.database(id).roles.operator !== null && hasOperations(directory.settings(id).shape);

/** Every configured outbox, in the order of the configuration; an unreachable one with the reason. */
export const listOutboxes = (console: Console): Promise<OutboxInfo[]> =>
  Promise.all(console.directory.ids.map((id) => readOutboxInfo(console, id)));
