import { sql, type RawBuilder } from 'kysely';
import type { Db } from '@/lib/database/description';
import { allPlaces, type Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import { eventColumns, type EventRow, placeSql, type PlaceSql, toEvent } from '@/lib/outbox/rows/row';
import { idFits } from '@/lib/outbox/rows/row-id';
import { touchedCount } from '@/lib/outbox/rows/touched';
import type { VersionedEvent } from '@/lib/shared/model';
import { isState } from '@/lib/shared/states';
import type { Asked, Change, Refusal, Step } from './operation';
import { fitsPublished } from './published';
import type { RecordEvent } from './records';
import { isAsSeen, olderThanStuckAfter } from './statements';

export interface Classified {
  record: RecordEvent;
  /** At this second read everything the guard asks for holds: another transaction holds the row's lock. */
  lockedOnly: boolean;
}

/** Where a row is now, whatever its state, and what the guard compares. */
export type EventLocation = ById & Pick<EventRow, 'state' | 'exact' | 'stable' | 'touched' | 'publishedAt' | 'type' | 'aggregateId'>;

/** The second read, in the same transaction: why the guard left a row out. By primary key only; locks nothing. */
export async function classify(change: Omit<Change, 'author'>, steps: readonly Step[], rows: readonly Asked[]): Promise<Classified[]> {
  if (rows.length === 0) return [];
  const { outbox, db } = change;
  const ids = rows.map(({ id }) => id);
  const found = await rowsById<EventLocation>(outbox, db, ids, (at) => {
    return sql`${at.id.text} as id, ${at.state} as state,
        ${at.exact} as exact, ${at.stable} as stable, ${touchedCount(outbox, at)} as touched,
        ${at.roleIso('publishedAt')} as ${sql.id('publishedAt')}, ${at.roleText('type')} as type, ${at.roleText('aggregateId')} as ${sql.id('aggregateId')}`;
  });
  return reasonsFor(change, steps, rows, found, await rowsOfSteps(outbox, db, steps, [...found.values()]));
}

type Reason = Pick<Refusal, 'code'> & Partial<Refusal>;

const CHANGED: Reason = { code: 'changed_since_seen' };

export function reasonsFor(
  { outbox, operation }: Pick<Change, 'outbox' | 'operation'>,
  steps: readonly Step[],
  rows: readonly Asked[],
  found: ReadonlyMap<string, EventLocation>,
  { matches, tooYoung }: Awaited<ReturnType<typeof rowsOfSteps>>,
): Classified[] {
  /** Why a row is left alone: the first reason that fits; null if only a lock held by others remains. */
  const reasonOf = ({ id, version }: Asked, row: EventLocation): Reason | null => {
    const state = isState(row.state) ? row.state : 'unmapped';
    // It is in another place or state, or was operated on since.
    const changed = version === null || version.place !== row.place || !isAsSeen(version, { ...row, state });
    if (state === 'unmapped') return changed ? CHANGED : { code: 'wrong_state' };
    const [exact, stable] = [version?.exact === row.exact, version?.stable === row.stable];
    const step = steps.find((candidate) => candidate.source.key === row.place && matches.get(candidate)?.has(id) === true);
    const refusal = operation.refusal(outbox, state);
    // It cannot have been seen in this state for this operation: that it changed is more helpful.
    if (refusal?.code === 'wrong_state' && (changed || !exact)) return CHANGED;
    if (refusal !== null) return refusal;
    if (step === undefined && row.published !== null && operation.sendsAgain)
      return { code: 'already_published', because: 'fits_published' };
    if (outbox.refused.includes(operation.key)) return { code: 'not_supported', because: 'failed_its_proof' };
    if (steps.length === 0) return { code: 'not_supported', because: 'not_installed' };
    if (changed) return CHANGED;
    // In the right state and as it was seen: only the rule's own guard can exclude it.
    if (step === undefined) return exact ? { code: 'wrong_state', because: 'guard_not_met' } : CHANGED;
    if (!(step.version === 'exact' ? exact : stable)) return CHANGED;
    return step.olderThanStuckAfter !== null && tooYoung.has(id) ? { code: 'too_young' } : null;
  };
  return rows.map((one) => {
    const row = found.get(one.id);
    const reason = row === undefined ? { code: 'not_found' as const } : reasonOf(one, row);
    return { record: skipped(one.id, row, reason ?? { code: 'locked' }), lockedOnly: reason === null };
  });
}

function skipped(id: string, row: EventLocation | undefined, { code, because }: Reason): RecordEvent {
  const state = row !== undefined && isState(row.state) ? row.state : ('unmapped' as const);
  const detail = row === undefined ? null : { state, at: row.publishedAt, ...(because == null ? {} : { because }) };
  const [type, aggregate] = [row?.type ?? null, row?.aggregateId ?? null];
  return { event_id: id, event_type: type, aggregate_id: aggregate, code, detail, before: null, after: null };
}

export interface ById {
  id: string;
  place: Place['key'];
  /** Not null if a rule of the shape says it is published, whatever its state. */
  published: string | null;
}

type Columns = (at: PlaceSql) => RawBuilder<unknown>;

/** Rows by id, each from the first of the outbox's tables that has it. */
export async function rowsById<T extends ById>(outbox: Outbox, db: Db, ids: readonly string[], columns: Columns) {
  const found = new Map<string, T>();
  // A text that cannot be an id of this table finds no row, and would make the statement fail for the others.
  const possible = ids.filter((id) => idFits(outbox.database.engine, outbox.main, id));
  for (const place of allPlaces(outbox)) {
    const missing = possible.filter((id) => !found.has(id));
    if (missing.length === 0) break;
    const at = placeSql(outbox, place);
    const { rows } = await sql<T>`select ${sql.lit(place.key)} as place, ${columns(at)},
        case when ${fitsPublished(outbox, at)} then 'fits' end as published
      from ${at.from} where ${at.id.among(missing)}`.execute(db);
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}

/** Whole events, as they are now, by id. */
export async function eventsById(outbox: Outbox, ids: readonly string[]): Promise<Map<string, VersionedEvent>> {
  const rows = await outbox.database.read((db) => rowsById<EventRow & ById>(outbox, db, ids, (at) => eventColumns(outbox, at)));
  return new Map([...rows].map(([id, row]) => [id, toEvent(outbox, row.place, row)]));
}

/** For each step the rows it applies to now, and rows too young for a step that requires an age. */
export async function rowsOfSteps(outbox: Outbox, db: Db, steps: readonly Step[], rows: readonly Pick<ById, 'id' | 'place'>[]) {
  const matches = new Map<Step, Set<string>>();
  const tooYoung = new Set<string>();
  for (const step of steps) {
    const ids = rows.filter((row) => row.place === step.source.key).map((row) => row.id);
    if (ids.length === 0) continue;
    const at = placeSql(outbox, step.source);
    const answer = await sql<{ id: string; old: string | null }>`select ${at.id.text} as id,
        case when ${olderThanStuckAfter(outbox, step, at)} then 'old' end as old
      from ${at.from} where ${at.id.among(ids)} and ${step.match(at)}`.execute(db);
    matches.set(step, new Set(answer.rows.map((row) => row.id)));
    for (const row of answer.rows) if (row.old === null) tooYoung.add(row.id);
  }
  return { matches, tooYoung };
}
