import type { Unsettled, UnsettledLog } from '@/lib/interventions/settle';
import { insertAuditEntries, type NewAuditEntry } from '@/lib/store/audit';
import type { Store } from '@/lib/store/store';
import { deleteUnsettled, findUnsettled, insertUnsettled, selectUnsettled } from '@/lib/store/unsettled-interventions';
import { entryId } from './entry-id';

const LIST_MAX = 100;

/** Interventions whose commit nobody has heard of, kept in the store until the database answers. */
export function unsettledLog(store: Store): UnsettledLog {
  return {
    add: (entry) => insertUnsettled(store.db, entry),
    get: (id) => findUnsettled(store.db, id),
    list: () => selectUnsettled(store.db, LIST_MAX),
    settled: (entry, outcome) =>
      store.db.transaction().execute(async (db) => {
        if (outcome === 'not_applied') await insertAuditEntries(db, notApplied(entry));
        await deleteUnsettled(db, entry.id);
      }),
  };
}

/** One entry per event, with an id that is the same whoever finds out, and never that of a record. */
function notApplied({ id, at, actor, outbox, request }: Unsettled): NewAuditEntry[] {
  return request.events.map((event, position) => ({
    id: entryId(`${id} not applied`, position),
    at,
    actorId: actor.id,
    actor: actor.name,
    role: actor.role,
    operation: request.operation,
    outbox,
    eventId: event.id,
    eventType: null,
    aggregateId: null,
    reason: request.reason,
    outcome: 'none',
    code: 'not_applied',
    interventionId: id,
    before: null,
    after: null,
  }));
}
