import type { Remembered, Unsettled, UnsettledLog } from '@/lib/interventions/settle';
import { Problem } from '@/lib/shared/problems';
import { insertAuditEntries, NO_EVENT, type NewAuditEntry } from '@/lib/store/audit';
import type { Store } from '@/lib/store/store';
import {
  deleteUnsettled,
  findUnsettled,
  findUnsettledOfKey,
  insertUnsettled,
  markNotApplied,
  selectUnsettled,
} from '@/lib/store/unsettled-interventions';
import { entryId } from './records-keeper';

const LIST_MAX = 1_000;

interface Owed {
  entry: Unsettled;
  outcome: 'applied' | 'not_applied' | null;
}

/** Attempts whose commit is unknown, in the store until the database answers. This process keeps what the store does not take. */
export function unsettledLog(store: Store, onError: (error: unknown) => void): UnsettledLog {
  const owed = new Map<string, Owed>();

  async function pay(one: Owed): Promise<void> {
    const { entry, outcome } = one;
    await store.db.transaction().execute(async (db) => {
      if (outcome === 'applied') return deleteUnsettled(db, entry.id);
      await insertUnsettled(db, entry);
      if (outcome === null) return;
      await insertAuditEntries(db, notApplied(entry));
      await markNotApplied(db, entry.id);
    });
    // It may have been settled while it was being written.
    if (owed.get(entry.id) === one) owed.delete(entry.id);
  }

  async function owe(one: Owed): Promise<void> {
    owed.set(one.entry.id, one);
    await pay(one).catch(onError);
  }

  const here = (one: Owed): Remembered | null =>
    one.outcome === 'applied' ? null : { entry: one.entry, notApplied: one.outcome !== null };

  return {
    add: (entry) => owe({ entry, outcome: null }),
    settled: (entry, outcome) => owe({ entry, outcome }),
    async get(id) {
      const one = owed.get(id);
      return one === undefined ? findUnsettled(store.db, id).catch(away) : here(one);
    },
    async ofKey(wanted) {
      const { outbox, actor, key } = wanted;
      const ours = [...owed.values()].filter(({ entry: one }) => one.outbox === outbox && one.actor.id === actor.id && one.key === key);
      const open = ours.find(({ outcome }) => outcome === null);
      if (open !== undefined) return here(open);
      const found = await findUnsettledOfKey(store.db, { outbox, actorId: actor.id, key }).catch(away);
      // Settled here, but still open in the store.
      const known = found === null ? undefined : owed.get(found.entry.id);
      if (found !== null && known === undefined) return found;
      return ours.map(here).find((one) => one !== null) ?? null;
    },
    async list(outboxes) {
      try {
        for (const one of owed.values()) await pay(one);
      } catch (error) {
        // The store is unreachable for the others too.
        onError(error);
      }
      const stored = await selectUnsettled(store.db, outboxes, LIST_MAX).catch((error: unknown) => (onError(error), []));
      const open = [...owed.values()].filter(({ entry, outcome }) => outcome === null && outboxes.includes(entry.outbox));
      return [...stored.filter(({ id }) => !owed.has(id)), ...open.map(({ entry }) => entry)];
    },
  };
}

function away(error: unknown): never {
  const detail = "The console's own store does not answer, and what became of earlier tries is known there alone";
  throw new Problem('unavailable', `${detail}. This try changed nothing: ask again in a moment`, { ofStore: true, cause: error });
}

/** One entry per event, with an id that is the same in every process, and never that of a record. */
function notApplied({ id, at, actor, outbox, request }: Unsettled): NewAuditEntry[] {
  return request.events.map((event, position) => ({
    ...NO_EVENT,
    id: entryId(`${id} not applied`, position),
    at,
    actorId: actor.id,
    actor: actor.name,
    role: actor.role,
    operation: request.operation,
    outbox,
    eventId: event.id,
    reason: request.reason,
    code: 'not_applied',
    interventionId: id,
  }));
}
