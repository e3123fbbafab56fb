import { DatabaseFailure } from '@/lib/database/failure';
import { eventsOf, headersSince, type RecordEvent, type RecordHeader } from '@/lib/interventions/records';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import { Problem } from '@/lib/shared/problems';
import { insertAuditEntries, type NewAuditEntry } from '@/lib/store/audit';
import { advanceCarriedTo, findCarriedTo } from '@/lib/store/carrier-cursors';
import type { Store } from '@/lib/store/store';
import { entryId } from './entry-id';

const INTERVAL_MS = 1_000;
const BATCH = 500;
/**
 * How far back every tick looks again: a record's time is when its transaction began, and no transaction of ours
 * lives longer than its statement and idle timeouts together allow.
 */
const OVERLAP_MS = 180_000;
/** Where an outbox never carried before begins. */
const BEGINNING = '2020-01-01T00:00:00.000000Z';

export interface Carrier {
  /** Carries this outbox's records now rather than at the next tick. */
  kick(outboxId: string): void;
  /** Carries everything there is now; for tests and scripts. */
  carryAll(): Promise<void>;
  stop(): Promise<void>;
}

export interface CarrierOptions {
  directory: OutboxDirectory;
  store: Store;
  /** Called with what went wrong; the next tick tries again. */
  onError(outboxId: string, error: unknown): void;
}

/**
 * Brings intervention records from the observed databases into the audit every second: at least once, idempotent by
 * id, complete under late commits. A database or store that is away loses nothing: the records stay where they are.
 */
export function startCarrier(options: CarrierOptions): Carrier {
  const carried = new Map<string, Set<string>>();
  const busy = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const failing = new Set<string>();

  const carry = (outboxId: string): Promise<void> => {
    const running = busy.get(outboxId);
    if (running !== undefined) {
      // A record may have been committed after the running tick read: look once more when it is done.
      again.add(outboxId);
      return running;
    }
    // What failed may be another table than it was: it is looked at sooner than one that is only watched.
    const bound = failing.has(outboxId) ? options.directory.get(outboxId) : options.directory.last(outboxId);
    const work = bound
      .then((outbox) => carryOutbox(outbox, options.store, carriedOf(carried, outboxId)))
      .then(
        () => void failing.delete(outboxId),
        (error: unknown) => {
          failing.add(outboxId);
          if (!isAway(error)) options.onError(outboxId, error);
        },
      )
      .finally(() => {
        busy.delete(outboxId);
        if (again.delete(outboxId)) void carry(outboxId);
      });
    busy.set(outboxId, work);
    return work;
  };
  const carryAll = async (): Promise<void> => {
    await Promise.all(options.directory.ids.map(carry));
  };
  const timer = setInterval(() => void carryAll(), INTERVAL_MS);
  timer.unref();
  return {
    kick: (outboxId) => void carry(outboxId),
    carryAll,
    async stop() {
      clearInterval(timer);
      again.clear();
      await Promise.all(busy.values());
    },
  };
}

/** A source that is away, or has nothing installed, is no news for the log: its records wait for it. */
function isAway(error: unknown): boolean {
  return (
    (error instanceof Problem && (error.code === 'unavailable' || error.code === 'not_found')) ||
    (error instanceof DatabaseFailure && error.code === 'connection')
  );
}

function carriedOf(carried: Map<string, Set<string>>, outboxId: string): Set<string> {
  const known = carried.get(outboxId) ?? new Set<string>();
  carried.set(outboxId, known);
  return known;
}

async function carryOutbox(outbox: Outbox, store: Store, seen: Set<string>): Promise<void> {
  if (outbox.archive === null) return;
  const outboxId = outbox.id;
  const cursor = await findCarriedTo(store.db, outboxId);
  let since = cursor === null ? BEGINNING : new Date(Date.parse(cursor) - OVERLAP_MS).toISOString();
  const inOverlap = new Set<string>();
  for (;;) {
    const { headers, fresh, events } = await outbox.database.read(async (db) => {
      const batch = await headersSince(outbox.database.engine, db, outboxId, since, BATCH);
      const unknown = batch.filter((header) => !seen.has(header.id));
      return {
        headers: batch,
        fresh: unknown,
        events: await eventsOf(
          outbox.database.engine,
          db,
          unknown.map((header) => header.id),
        ),
      };
    });
    for (const header of headers) inOverlap.add(header.id);
    await insertAuditEntries(
      store.db,
      fresh.flatMap((header) => entriesOf(header, events.get(header.id) ?? [])),
    );
    for (const header of fresh) seen.add(header.id);
    const last = headers.at(-1);
    if (last !== undefined && fresh.length > 0) await advanceCarriedTo(store.db, outboxId, last.at);
    if (headers.length < BATCH || last === undefined || last.at === since) break;
    since = last.at;
  }
  // Only what the next look could meet again is worth remembering.
  for (const id of seen) if (!inOverlap.has(id)) seen.delete(id);
}

/** One audit entry per event, with an id that is the same however often the record is carried. */
export function entriesOf(header: RecordHeader, events: RecordEvent[]): NewAuditEntry[] {
  return events.map((event, position) => ({
    id: entryId(header.id, position),
    at: header.at,
    actorId: header.actor_id,
    actor: header.actor_name,
    role: header.actor_role,
    operation: header.operation,
    outbox: header.outbox,
    eventId: event.event_id,
    eventType: event.event_type,
    aggregateId: event.aggregate_id,
    reason: header.reason,
    outcome: event.code === null ? 'applied' : 'none',
    code: event.code,
    interventionId: header.id,
    before: event.before,
    after: event.after,
  }));
}
