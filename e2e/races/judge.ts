/** Judges a race from the sink, the tables, their history and the records. Each rule answers what broke it. */
import type { Delivery } from '@/demo/sink/protocol';
import { decodeVersion } from '@/lib/outbox/rows/version';
import type { Change } from './history';
import type { Image } from './witness';

export interface RecordedEvent {
  intervention_id: string;
  operation: string;
  event_id: string;
  code: string | null;
  warned: boolean;
  at: Date;
}

/** What is known of any race: what was put in, what happened to it, and what the console says it did. */
export interface TableEvidence {
  inserted: string[];
  history: Change[];
  records: RecordedEvent[];
  /** True when the row counts as published. */
  isPublished(row: Image): boolean;
  /** The state of a row of the outbox table, told without the console; null where nobody can tell. */
  stateOf(row: Image): string | null;
  /** With which version each intervention asked for which event. */
  asked: Asked[];
  /** True where the relay deletes what it has published. */
  publishedIsGone: boolean;
}

export interface Asked {
  intervention: string;
  event: string;
  version: string;
}

/** A race with a relay that really publishes. */
export interface Evidence extends TableEvidence {
  deliveries: Delivery[];
  /** Relay faults the design names that send an event again without anybody's doing. */
  namedFault: 'none' | 'batch rolled back';
}

/** Every event is in exactly one place at the end; what the relay took away as published in none. */
export function inOnePlace({ inserted, history, publishedIsGone }: TableEvidence): string[] {
  const places = new Map<string, Set<string>>(inserted.map((id) => [id, new Set()]));
  const last = new Map<string, Change>();
  for (const change of history) {
    const where = places.get(change.event_id) ?? new Set<string>();
    places.set(change.event_id, where);
    if (change.op === 'DELETE') where.delete(change.place);
    else where.add(change.place);
    last.set(change.event_id, change);
  }
  const published = (id: string): boolean => publishedIsGone && last.get(id)?.op === 'DELETE' && last.get(id)?.ours === false;
  return [...places]
    .filter(([id, where]) => where.size !== 1 && !(where.size === 0 && published(id)))
    .map(([id, where]) => `${id} is in ${[...where].join(' and ') || 'no place'}`);
}

/** The console never changed a row that was published. */
export function publishedUntouched({ history, isPublished }: TableEvidence): string[] {
  return history
    .filter((change) => change.ours && change.place === 'main' && change.before !== null && isPublished(change.before))
    .map((change) => `${change.event_id} was published when ${change.op} touched it`);
}

/** Changed exactly where a record says so: every intervention that changed an event has a record of it without a skip code, and the other way round. */
export function recordedExactly({ history, records }: TableEvidence): string[] {
  const pair = (intervention: string | null, event: string): string => `${event} by ${intervention ?? 'no intervention'}`;
  const changed = new Set(history.filter(({ ours }) => ours).map((change) => pair(change.intervention, change.event_id)));
  const recorded = records.filter(({ code }) => code === null).map((record) => pair(record.intervention_id, record.event_id));
  const said = new Set(recorded);
  return [
    ...[...changed].filter((one) => !said.has(one)).map((one) => `${one} was changed and not recorded`),
    ...[...said].filter((one) => !changed.has(one)).map((one) => `${one} was recorded and not changed`),
    ...recorded.filter((one, index) => recorded.indexOf(one) !== index).map((one) => `${one} was recorded twice`),
  ];
}

/** What was changed was in the state that its version says, and had been changed by us as often as that says. */
export function asItsVersionSays({ history, stateOf, asked }: TableEvidence): string[] {
  const earlier = new Map<string, Set<string>>();
  return history.flatMap(({ ours, intervention, event_id: id, place, before }) => {
    const by = earlier.get(id) ?? new Set<string>();
    earlier.set(id, by);
    if (!ours || intervention === null) return [];
    const version = decodeVersion(asked.find((one) => one.intervention === intervention && one.event === id)?.version ?? '');
    if (version === null) return [`${id} by ${intervention} was changed and nobody had seen it`];
    const times = by.has(intervention) ? version.touched : by.size;
    by.add(intervention);
    const was = before === null ? null : { main: stateOf(before), dead: 'dead', archive: 'archived' }[place];
    return [
      ...(was === null || was === version.state ? [] : [`${id} by ${intervention} was ${was} and had been seen ${version.state}`]),
      ...(times === version.touched
        ? []
        : [`${id} by ${intervention} had been changed ${times} times and was seen after ${version.touched ?? 'nobody knows how many'}`]),
    ];
  });
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

/** For every race. */
export const TABLE_RULES = { inOnePlace, publishedUntouched, recordedExactly, asItsVersionSays };
/** For races with a relay of ours. */
export const RULES = { ...TABLE_RULES, nothingAfterPublished, extrasExplained, nothingLost };
