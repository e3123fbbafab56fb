import type { UnsettledLog } from '@/lib/interventions/settle';
import type { Store } from '@/lib/store/store';
import { deleteUnsettled, findUnsettled, insertUnsettled, selectUnsettled } from '@/lib/store/unsettled-interventions';

const LIST_MAX = 100;

/** Interventions whose commit nobody has heard of, kept in the store until the database answers. */
export function unsettledLog(store: Store): UnsettledLog {
  return {
    add: (entry) => insertUnsettled(store.db, entry),
    get: (id) => findUnsettled(store.db, id),
    list: () => selectUnsettled(store.db, LIST_MAX),
    remove: (id) => deleteUnsettled(store.db, id),
  };
}
