import 'server-only';
import { DatabaseFailure } from '@/lib/database/failure';
import { databaseProblem } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Context } from '../context';

/** Runs `work` on an outbox; what its database could not do comes out as a Problem in an operator's words. */
export async function onOutbox<T>(context: Pick<Context, 'console'>, outboxId: string, work: (outbox: Outbox) => Promise<T>): Promise<T> {
  const outbox = await context.console.directory.get(outboxId);
  try {
    return await work(outbox);
  } catch (error) {
    if (!(error instanceof DatabaseFailure)) throw error;
    // The table may have changed since it was bound: the next call looks again.
    if (error.code === 'missing') context.console.directory.forget(outboxId);
    throw databaseProblem(error, outbox.database.id);
  }
}
