import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import { allPlaces, type Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import { placeSql } from '@/lib/outbox/rows/row';
import { idFits } from '@/lib/outbox/rows/row-id';
import { touchedCount } from '@/lib/outbox/rows/touched';
import { decodeVersion } from '@/lib/outbox/rows/version';
import { isState, type State } from '@/lib/shared/states';
import type { SkipCode, VersionedEvent } from '@/lib/shared/model';
import type { Asked, Change, Operation, Refusal, Step } from './operation';
import { fitsPublished } from './published';
import type { RecordEvent } from './records';
import { isAsSeen, olderThanStuckAfter } from './statements';

/** Why a row was not changed, as one record each. */
export interface Classified {
  record: RecordEvent;
  /** Everything the guard asks for holds in this second reading: somebody else holds the row's lock. */
  lockedOnly: boolean;
}

/** Where a row is now and what it looks like, whatever its state. */
export interface EventLocation {
  place: Place['key'];
  id: string;
  state: string;
  exact: string;
  stable: string;
  touched: string | null;
  published_at: string | null;
  type: string | null;
  aggregate_id: string | null;
  /** Something where a rule of the shape says that it is out, whatever its state. */
  published: string | null;
}

/** For each step the rows it is for now, and among rows bound to an age those that are too young. */
export interface RowsOfSteps {
  matches: ReadonlyMap<Step, ReadonlySet<string>>;
  tooYoung: ReadonlySet<string>;
}

/**
 * The second reading, in the same transaction: names the reason for every row that the guard left out. By primary key only; locks
 * nothing.
 */
export async function classify(change: Omit<Change, 'author'>, steps: readonly Step[], rows: readonly Asked[]): Promise<Classified[]> {
  if (rows.length === 0) return [];
  const { outbox, db } = change;
  const found = await whereabouts(
    outbox,
    db,
    rows.map(({ id }) => id),
  );
  return reasonsFor(change, steps, rows, found, await rowsOfSteps(outbox, db, steps, [...found.values()]));
}

/** A row that was asked for, beside what it is now. */
interface Judged {
  /** null where no rule of the shape fits it. */
  state: State | null;
  refusal: Refusal | null;
  /** It is elsewhere, in another state, or was operated on since it was seen. */
  changed: boolean;
  /** The row is physically the one that was seen. */
  exact: boolean;
  /** It is the one that was seen as far as the step's version goes. */
  same: boolean;
  /** The operation has steps here at all, and one of them is for the row. */
  steps: boolean;
  step: boolean;
  out: boolean;
  unproven: boolean;
  young: boolean;
}

/** Why a row is left alone: the first that fits; code null: what the operation itself says to its state. */
const REASONS: readonly { code: SkipCode | null; because?: string; fits: (row: Judged) => boolean }[] = [
  { code: 'changed_since_seen', fits: ({ state, changed }) => state === null && changed },
  { code: 'wrong_state', fits: ({ state }) => state === null },
  // It cannot have been seen in this state for this operation: what happened to it says more.
  { code: 'changed_since_seen', fits: ({ refusal, changed, exact }) => refusal?.code === 'wrong_state' && (changed || !exact) },
  { code: null, fits: ({ refusal }) => refusal !== null },
  { code: 'already_published', because: 'fits_published', fits: ({ step, out }) => !step && out },
  { code: 'not_supported', because: 'failed_its_proof', fits: ({ unproven }) => unproven },
  { code: 'not_supported', because: 'not_installed', fits: ({ steps }) => !steps },
  { code: 'changed_since_seen', fits: ({ changed }) => changed },
  // In the right state and as it was seen: what stands in the way is the rule's own guard.
  { code: 'wrong_state', because: 'guard_not_met', fits: ({ step, exact }) => !step && exact },
  { code: 'changed_since_seen', fits: ({ step, same }) => !step || !same },
  { code: 'too_young', fits: ({ young }) => young },
];

/** The same of rows that have been read, by their ids. */
export function reasonsFor(
  { outbox, operation }: { outbox: Outbox; operation: Operation },
  steps: readonly Step[],
  rows: readonly Asked[],
  found: ReadonlyMap<string, EventLocation>,
  { matches, tooYoung }: RowsOfSteps,
): Classified[] {
  return rows.map(({ id, version }) => {
    const row = found.get(id);
    if (row === undefined) return skip(id, null, 'not_found', null);
    const state = isState(row.state) ? row.state : null;
    const step = steps.find((candidate) => candidate.source.key === row.place && matches.get(candidate)?.has(id) === true);
    const judged: Judged = {
      state,
      refusal: state === null ? null : operation.refusal(outbox, state),
      changed: version === null || version.place !== row.place || !isAsSeen(version, { ...row, state: state ?? 'unmapped' }),
      exact: version?.exact === row.exact,
      same: step?.version === 'exact' ? version?.exact === row.exact : version?.stable === row.stable,
      steps: steps.length > 0,
      step: step !== undefined,
      out: row.published !== null && operation.sendsAgain,
      unproven: outbox.refused.includes(operation.key),
      young: step !== undefined && step.olderThanStuckAfter !== null && tooYoung.has(id),
    };
    const reason = REASONS.find(({ fits }) => fits(judged));
    if (reason === undefined) return { ...skip(id, row, 'locked', null), lockedOnly: true };
    const { refusal } = judged;
    return skip(id, row, reason.code ?? refusal?.code ?? 'wrong_state', reason.because ?? refusal?.because ?? null);
  });
}

function skip(id: string, row: EventLocation | null, code: SkipCode, because: string | null): Classified {
  const state = row === null ? undefined : isState(row.state) ? row.state : ('unmapped' as const);
  const detail = row === null ? null : { state, at: row.published_at, ...(because === null ? {} : { because }) };
  const [type, aggregate] = [row?.type ?? null, row?.aggregate_id ?? null];
  return {
    record: { event_id: id, event_type: type, aggregate_id: aggregate, code, detail, before: null, after: null },
    lockedOnly: false,
  };
}

async function whereabouts(outbox: Outbox, db: Db, ids: readonly string[]): Promise<Map<string, EventLocation>> {
  const found = new Map<string, EventLocation>();
  // A text that cannot be an id of this table names no row; asking for it would fail the others.
  const possible = ids.filter((id) => idFits(outbox.database.engine, outbox.main, id));
  for (const place of allPlaces(outbox)) {
    const missing = possible.filter((id) => !found.has(id));
    if (missing.length === 0) break;
    const at = placeSql(outbox, place);
    const { rows } = await sql<EventLocation>`select ${sql.lit(place.key)} as place, ${at.id.text} as id, ${at.state} as state,
        ${at.exact} as exact, ${at.stable} as stable, ${touchedCount(outbox, at)} as touched, ${at.roleIso('publishedAt')} as published_at,
        ${at.roleText('type')} as type, ${at.roleText('aggregateId')} as aggregate_id,
        case when ${fitsPublished(outbox, at)} then 'fits' end as published
      from ${at.from} where ${at.id.among(missing)}`.execute(db);
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}

/** The same of an event that was read as lists and pages read it; null where its version cannot be read. */
export function locateEvent(place: Place['key'], event: VersionedEvent, published: boolean): EventLocation | null {
  const version = decodeVersion(event.version);
  if (version === null) return null;
  return {
    ...{ place, id: event.id, state: event.state, type: event.type, exact: version.exact, stable: version.stable },
    touched: version.touched === null ? null : String(version.touched),
    published_at: event.publishedAt,
    aggregate_id: event.aggregateId,
    published: published ? 'fits' : null,
  };
}

export async function rowsOfSteps(outbox: Outbox, db: Db, steps: readonly Step[], rows: readonly EventLocation[]): Promise<RowsOfSteps> {
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
