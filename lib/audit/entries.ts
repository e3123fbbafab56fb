import type { StoredRecord } from '@/lib/interventions/record-pages';
import { timeInId } from '@/lib/shared/changes/record-time';
import type { NewAuditEntry } from '@/lib/store/audit';
import { entryId } from './entry-id';

/** One audit entry per line of a record, with an id that is the same however often it is carried; one for a record without lines. */
export function entriesOf({ header, lines }: StoredRecord): NewAuditEntry[] {
  const common = {
    // A time that no calendar has is told by none.
    at: header.at ?? timeInId(header.id) ?? new Date().toISOString(),
    actorId: header.actor_id,
    actor: header.actor_name,
    role: header.actor_role,
    operation: header.operation,
    outbox: header.outbox,
    reason: header.reason,
    interventionId: header.id,
  };
  if (lines.length === 0) {
    const nothing = { eventId: null, eventType: null, aggregateId: null, outcome: 'none', code: null, before: null, after: null } as const;
    return [{ ...common, ...nothing, id: entryId(`${header.id} without lines`, 0) }];
  }
  return lines.map((line) => ({
    ...common,
    id: entryId(header.id, line.position),
    eventId: line.event_id,
    eventType: line.event_type,
    aggregateId: line.aggregate_id,
    outcome: line.code === null ? 'applied' : 'none',
    code: line.code,
    before: line.before,
    after: line.after,
  }));
}
