import 'server-only';
import { unreachableInfo, whyUnread } from '@/lib/outbox/unreachable';
import { hasOperations } from '@/lib/outbox/capabilities';
import { outboxInfo } from '@/lib/outbox/outbox';
import type { OutboxInfo } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { Console } from '../console';

/** One outbox, also when its database is away. Throws Problem `not_found`. */
export async function readOutbox(console: Console, id: string): Promise<OutboxInfo> {
  console.directory.settings(id);
  try {
    return outboxInfo(await console.directory.get(id));
  } catch (error) {
    if (!(error instanceof Problem)) console.log.warn({ outbox: id, err: error }, 'the outbox could not be looked at');
    return unreachableInfo(console.directory, id, whyUnread(error));
  }
}

/** Whether an outbox could ever be changed from here: by the configuration and the shape alone, whatever its database says. */
export const isChangeable = ({ directory }: Console, id: string): boolean =>
  directory.database(id).roles.operator !== null && hasOperations(directory.settings(id).shape);

/** Every configured outbox, in the order of the configuration; one that is away is listed and says so. */
export function listOutboxes(console: Console): Promise<OutboxInfo[]> {
  return Promise.all(console.directory.ids.map((id) => readOutbox(console, id)));
}
