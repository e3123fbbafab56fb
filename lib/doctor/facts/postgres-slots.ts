import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import { readsFromSlot, SLOTS_READ, slotName, slotRights, slotRows } from '@/lib/outbox/slots';
import type { Unseen } from '@/lib/shared/doctor';
import type { SlotFacts, SlotsFacts } from './facts';

interface SlotsLook {
  /** null for shapes that need none, and where the role may not look. */
  slots: SlotsFacts | null;
  /** Whether the role may look at all. */
  may: boolean;
  unseen: Unseen[];
}

/** The replication slots behind an outbox that nobody reads, and whether the role may see any. */
export async function readSlots(db: Db, outbox: Outbox): Promise<SlotsLook> {
  const { may, role, standby } = await slotRights(db);
  if (!may) {
    const to = outbox.database.engine.quote.identifier(role);
    const cure = `GRANT SELECT ON pg_catalog.pg_replication_slots TO ${to}; GRANT EXECUTE ON FUNCTION pg_catalog.pg_get_replication_slots(), pg_catalog.pg_current_wal_lsn() TO ${to};`;
    return { slots: null, may, unseen: [{ code: 'slots', cure }] };
  }
  if (!readsFromSlot(outbox)) return { slots: null, may, unseen: [] };
  const { rows } =
    await sql<SlotFacts>`select name, plugin, active, retained_bytes as "retainedBytes", unconfirmed_bytes as "unconfirmedBytes",
      status, invalidated, inactive_ms as "inactiveMs" from (${slotRows(outbox)}) as slots order by name limit ${sql.lit(SLOTS_READ)}`.execute(
      db,
    );
  return { slots: { wanted: slotName(outbox), standby, found: rows }, may, unseen: [] };
}
