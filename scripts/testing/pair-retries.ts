import { causeWalk } from '@/lib/outbox/lists/dead-letters';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { getConsole } from '@/lib/server/console';
import { readCauses } from '@/lib/store/causes';

/** Whether the collector has counted, of as many events of an outbox as are tried again, why. */
export async function hasCountedRetries(id: string): Promise<boolean> {
  const { directory, store } = await getConsole();
  const outbox = await directory.get(id);
  if (outbox.main.roles.error === undefined || causeWalk(outbox, 'retrying')?.served !== true) return true;
  const { events } = await listEvents(outbox, { state: ['retrying'] }, { limit: 200 });
  const { causes } = await readCauses(store.db, id);
  return causes.reduce((sum, { retrying }) => sum + retrying, 0) === events.length;
}
