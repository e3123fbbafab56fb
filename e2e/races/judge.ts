/** Judges a race from the sink, the tables, their history and the records. Each rule answers what broke it. */
import type { Delivery } from '@/demo/sink/protocol';
import type { Change } from './history';

export interface RecordedEvent {
  intervention_id: string;
  operation: string;
  event_id: string;
  code: string | null;
  warned: boolean;
  at: Date;
}

export interface Evidence {
  shape: string;
  inserted: string[];
  history: Change[];
  deliveries: Delivery[];
  records: RecordedEvent[];
  /** True when the row counts as published. */
  isPublished(row: Record<string, unknown>): boolean;
  /** Relay faults the design names that send an event again without anybody's doing. */
  namedFault: 'none' | 'batch rolled back';
}

/** Every event is in exactly one place at the end. */
export function inOnePlace({ inserted, history }: Evidence): string[] {
  const places = new Map<string, Set<string>>(inserted.map((id) => [id, new Set()]));
  for (const change of history) {
    const where = places.get(change.event_id) ?? new Set<string>();
    places.set(change.event_id, where);
    if (change.op === 'DELETE') where.delete(change.place);
    else where.add(change.place);
  }
  return [...places].filter(([, where]) => where.size !== 1).map(([id, where]) => `${id} is in ${[...where].join(' and ') || 'no place'}`);
}

/** The console never changed a row that was published. */
export function publishedUntouched({ history, isPublished }: Evidence): string[] {
  return history
    .filter((change) => change.ours && change.place === 'main' && change.before !== null && isPublished(change.before))
    .map((change) => `${change.event_id} was published when ${change.op} touched it`);
}

/** Changed exactly where a record says so: as many changes of ours per event as records without a skip code. */
export function recordedExactly({ history, records }: Evidence): string[] {
  const changed = new Map<string, Set<string>>();
  for (const change of history) {
    if (!change.ours) continue;
    const transactions = changed.get(change.event_id) ?? new Set<string>();
    transactions.add(change.txid);
    changed.set(change.event_id, transactions);
  }
  const recorded = new Map<string, number>();
  for (const record of records) if (record.code === null) recorded.set(record.event_id, (recorded.get(record.event_id) ?? 0) + 1);
  return [...new Set([...changed.keys(), ...recorded.keys()])]
    .filter((id) => (changed.get(id)?.size ?? 0) !== (recorded.get(id) ?? 0))
    .map((id) => `${id} was changed ${changed.get(id)?.size ?? 0} times and recorded ${recorded.get(id) ?? 0} times`);
}

/** No intervention made the relay start a delivery after the event had been marked published. */
export function nothingAfterPublished(evidence: Evidence): string[] {
  const marked = firstPublished(evidence);
  return evidence.deliveries.flatMap((delivery) => {
    const published = marked.get(delivery.eventId);
    if (published === undefined || new Date(delivery.startedAt) <= published) return [];
    const ours = evidence.history.find(
      (change) => change.ours && change.event_id === delivery.eventId && change.at > published && new Date(delivery.startedAt) > change.at,
    );
    if (ours !== undefined)
      return [`${delivery.eventId} went out at ${delivery.startedAt}, published ${published.toISOString()}, touched in between`];
    return explained(evidence, delivery.eventId)
      ? []
      : [`${delivery.eventId} went out at ${delivery.startedAt} after it was published ${published.toISOString()}`];
  });
}

/** Every delivery beyond the first has a named fault of the relay or a recorded warning to explain it. */
export function extrasExplained(evidence: Evidence): string[] {
  const counts = new Map<string, number>();
  for (const { eventId } of evidence.deliveries) counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
  return [...counts]
    .filter(([id, count]) => count > 1 && !explained(evidence, id))
    .map(([id, count]) => `${id} was delivered ${count} times and nothing explains it`);
}

/** Nothing that was inserted and is marked published was never delivered. */
export function nothingLost(evidence: Evidence): string[] {
  const delivered = new Set(evidence.deliveries.map((delivery) => delivery.eventId));
  return [...firstPublished(evidence).keys()].filter((id) => !delivered.has(id)).map((id) => `${id} is published and was never delivered`);
}

function firstPublished({ history, isPublished }: Evidence): Map<string, Date> {
  const marked = new Map<string, Date>();
  for (const change of history) {
    if (change.place === 'main' && change.after !== null && isPublished(change.after) && !marked.has(change.event_id))
      marked.set(change.event_id, change.at);
  }
  return marked;
}

function explained(evidence: Evidence, eventId: string): boolean {
  if (evidence.namedFault !== 'none') return true;
  return evidence.records.some((record) => record.event_id === eventId && record.code === null && record.warned);
}

export const RULES = { inOnePlace, publishedUntouched, recordedExactly, nothingAfterPublished, extrasExplained, nothingLost };
