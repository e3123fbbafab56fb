/** Judges what the console says it did: every change it claims happened once, from what the operator saw, and nothing else did. */
import { isDeepStrictEqual } from 'node:util';
import { SKIP_CODES, type InterventionResult } from '@/lib/shared/model';
import type { Change, StoredRecord } from './history';
import type { Image } from './witness';
import type { TableEvidence } from './judge';

/** An event as an operator saw it. */
export interface SeenEvent {
  id: string;
  version: string;
  state: string;
  /** The last write of the event's history at that time. */
  seq: string;
}

export interface Request {
  operation: string;
  events: SeenEvent[];
  /** One per time it was sent, under one key. */
  answers: InterventionResult[];
}

export interface Claims extends TableEvidence {
  records: (StoredRecord & { warned: boolean })[];
  requests: Request[];
  /** What a version of an event means: that very write of it, or the same values in all its columns. */
  exactly: 'that write' | 'those values';
  /** Columns that no relay changes, and a stable version covers. */
  stable: string[];
  /** What a version covers when the operation is for rows of the state, in the place; null when it is not for them. */
  covers(operation: string, place: Change['place'], state: string | null): 'exact' | 'stable' | null;
  /** Whether the operation is for rows of an age only, and the row had not reached it at that time. */
  tooYoung(operation: string, row: Image, at: Date): boolean;
}

/** Where an event is and what it looks like, after a write. */
interface Revision {
  seq: string;
  at: { place: Change['place']; image: Image } | null;
}

/** Every event that was asked for is in the answer once, changed or with a reason; and whoever asks again is told the same. */
export function answeredInFull({ requests }: Claims): string[] {
  return requests.flatMap(({ operation, events, answers }) => {
    const [first, ...others] = answers;
    if (first === undefined) return [];
    const asked = events.map(({ id }) => id).sort();
    const told = [...first.changed, ...first.skipped.map(({ id }) => id)].sort();
    return [
      ...(asked.join('\n') === told.join('\n') ? [] : [`${operation} of ${asked.join(', ')} was answered for ${told.join(', ')}`]),
      ...first.skipped
        .filter(({ code }) => !SKIP_CODES.includes(code))
        .map(({ id }) => `${id} was refused by ${operation} without a reason`),
      ...others
        .filter((other) => !isDeepStrictEqual(other, first))
        .map(() => `${operation} of ${asked.join(', ')} had two answers under one key`),
    ];
  });
}

/** The record in the database says what the answer said; there is none of anything that nobody was told of. */
export function answeredAsRecorded({ requests, records }: Claims): string[] {
  const line = (intervention: string, event: string, code: string | null): string => `${event} by ${intervention}: ${code ?? 'changed'}`;
  const told = new Set(
    requests.flatMap(({ answers }) =>
      answers
        .slice(0, 1)
        .flatMap((answer) => [
          ...answer.changed.map((id) => line(answer.interventionId, id, null)),
          ...answer.skipped.map(({ id, code }) => line(answer.interventionId, id, code)),
        ]),
    ),
  );
  const stored = new Set(records.map((record) => line(record.intervention_id, record.event_id, record.code)));
  return [
    ...[...told].filter((one) => !stored.has(one)).map((one) => `${one}, and has no record`),
    ...[...stored].filter((one) => !told.has(one)).map((one) => `${one}, and nobody was told`),
  ];
}

/** An intervention writes a row once where it is, or takes it from one place to one other. */
export function changedOnce({ history }: Claims): string[] {
  return [...ourChanges(history)]
    .filter(([, changes]) => {
      const ops = changes.map(({ op }) => op).sort();
      const places = new Set(changes.map(({ place }) => place));
      return ops.join() !== 'UPDATE' && !(ops.join() === 'DELETE,INSERT' && places.size === 2);
    })
    .map(([who, changes]) => `${who} was changed by ${changes.map(({ op, place }) => `${op} in ${place}`).join(', ')}`);
}

/** What was changed was, at that moment, what the operator had seen: as a whole, or what the shape says must be the same. */
export function fromWhatWasSeen(claims: Claims): string[] {
  const { history, requests, exactly, stable } = claims;
  const revisions = revisionsOf(history);
  const states = seenStates(requests);
  const byIntervention = new Map(requests.map((request) => [request.answers[0]?.interventionId, request]));
  return [...ourChanges(history)].flatMap(([who, changes]) => {
    const [first] = changes;
    const request = byIntervention.get(first?.intervention ?? '');
    const seen = request?.events.find(({ id }) => id === first?.event_id);
    if (first === undefined || request === undefined || seen === undefined) return [`${who} was changed and nobody asked for it`];
    const all = revisions.get(first.event_id) ?? [];
    const now = all.filter(({ seq }) => Number(seq) < Number(first.seq)).at(-1);
    const then = all.find(({ seq }) => seq === seen.seq);
    if (now?.at === undefined || now.at === null || then?.at === undefined || then.at === null)
      return [`${who} was changed when it was in no one place`];
    const { place, image } = now.at;
    if (place !== then.at.place) return [`${who} was seen in ${then.at.place} and changed in ${place}`];
    const shown = new Set([...(states.get(now.seq) ?? []), place === 'main' ? claims.stateOf(image) : null]);
    const known = [...shown].filter((state) => state !== null);
    const covers = (known.length === 0 ? [null] : known).map((state) => claims.covers(request.operation, place, state));
    const cover = covers.find((one) => one !== null) ?? null;
    if (cover === null) return [`${who}: ${request.operation} is not for ${known.join(' or ')} rows of ${place}`];
    if (cover === 'exact' && exactly === 'that write') return now.seq === then.seq ? [] : [`${who} was written again after it was seen`];
    const names = cover === 'exact' ? Object.keys({ ...image, ...then.at.image }) : stable;
    const different = names.filter((name) => image[name] !== then.at?.image[name]);
    return different.length === 0 ? [] : [`${who} had another ${different.join(', ')} than was seen`];
  });
}

/** What only an old claim allows was done to old claims only. */
export function oldEnough({ history, records, tooYoung }: Claims): string[] {
  const changes = ourChanges(history);
  return records.flatMap(({ code, event_id: id, intervention_id: intervention, operation }) => {
    const change = (code === null ? (changes.get(nameOf(id, intervention)) ?? []) : []).find(({ before }) => before !== null);
    if (change === undefined || change.before === null || !tooYoung(operation, change.before, change.at)) return [];
    return [`${nameOf(id, intervention)} was too young for ${operation}`];
  });
}

/** Before and after are recorded as they were. */
export function recordedAsItWas({ history, records }: Claims): string[] {
  const changes = ourChanges(history);
  return records.flatMap((record) => {
    if (record.code !== null) return [];
    const who = nameOf(record.event_id, record.intervention_id);
    const of = changes.get(who) ?? [];
    const before = of.find((change) => change.before !== null)?.before ?? null;
    const after = of.find((change) => change.after !== null)?.after ?? null;
    const wrong = [...differing(record.before, before), ...differing(record.after, after)];
    return wrong.length === 0 ? [] : [`${who} has a record of another ${wrong.join(', ')}`];
  });
}

/** Nothing happened behind the back of the history: each write found what the one before it had left. */
export function unbroken({ history }: Claims): string[] {
  const rows = new Map<string, string>();
  return history.flatMap(({ place, event_id: id, op, before, after }) => {
    const key = `${id} in ${place}`;
    const was = rows.get(key);
    rows.set(key, JSON.stringify(after));
    if (after === null) rows.delete(key);
    return was === (before === null ? undefined : JSON.stringify(before)) ? [] : [`${key} was written unseen before an ${op}`];
  });
}

function differing(recorded: Image | null, real: Image | null): string[] {
  if (recorded === null || real === null) return ['row'];
  return Object.entries(recorded).flatMap(([name, value]) => (real[name] === value ? [] : [name]));
}

const nameOf = (event: string, intervention: string | null): string => `${event} by ${intervention ?? 'no intervention'}`;

/** The console's changes by event and intervention, in order. */
function ourChanges(history: Change[]): Map<string, Change[]> {
  const changes = new Map<string, Change[]>();
  for (const change of history) {
    if (!change.ours) continue;
    const who = nameOf(change.event_id, change.intervention);
    changes.set(who, [...(changes.get(who) ?? []), change]);
  }
  return changes;
}

function revisionsOf(history: Change[]): Map<string, Revision[]> {
  const places = new Map<string, Map<Change['place'], Image>>();
  const revisions = new Map<string, Revision[]>();
  for (const { event_id: id, seq, place, after } of history) {
    const where = places.get(id) ?? new Map<Change['place'], Image>();
    places.set(id, where);
    if (after === null) where.delete(place);
    else where.set(place, after);
    const [only, ...more] = [...where].map(([at, image]) => ({ place: at, image }));
    const list = revisions.get(id) ?? [];
    list.push({ seq, at: only === undefined || more.length > 0 ? null : only });
    revisions.set(id, list);
  }
  return revisions;
}

/** What operators were shown of each write. */
function seenStates(requests: Request[]): Map<string, Set<string>> {
  const states = new Map<string, Set<string>>();
  for (const { events } of requests)
    for (const { seq, state } of events) states.set(seq, (states.get(seq) ?? new Set<string>()).add(state));
  return states;
}

export const CLAIM_RULES = { answeredInFull, answeredAsRecorded, changedOnce, fromWhatWasSeen, oldEnough, recordedAsItWas, unbroken };
