import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import { livePlaces, type Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import { placeSql } from '@/lib/outbox/row';
import { idFits } from '@/lib/outbox/row-id';
import { isState } from '@/lib/shared/states';
import type { SkipCode } from '@/lib/shared/model';
import type { Operation, Step } from './operation';
import type { RecordEvent } from './records';
import { isAsSeen, olderThanStuckAfter, whereaboutsStatement, type Seen, type Whereabouts } from './statements';

/** Why a row was not changed, as one record each. */
export interface Classified {
  record: RecordEvent;
  /** Everything the guard asks for held in this second look: somebody else holds the row's lock. */
  lockedOnly: boolean;
}

/**
 * The second look, in the same transaction: names the reason for every row that the guard left out. Reads by primary
 * key only; locks nothing.
 */
export async function classify(
  outbox: Outbox,
  db: Db,
  operation: Operation,
  steps: Step[],
  seen: (Seen | { id: string; version: null })[],
): Promise<Classified[]> {
  if (seen.length === 0) return [];
  const found = await whereabouts(
    outbox,
    db,
    seen.map(({ id }) => id),
  );
  const young = await youngRows(outbox, db, steps, [...found.values()]);
  return reasonsFor(outbox, operation, steps, seen, found, young);
}

/** The same of rows that have been read, by their ids. */
export function reasonsFor(
  outbox: Outbox,
  operation: Operation,
  steps: Step[],
  seen: (Seen | { id: string; version: null })[],
  found: ReadonlyMap<string, Whereabouts>,
  young: RowsOfSteps,
): Classified[] {
  return seen.map(({ id, version }) => {
    const row = found.get(id);
    if (row === undefined) return skip(id, null, 'not_found');
    const state = isState(row.state) ? row.state : null;
    const changed = version === null || version.place !== row.place || !isAsSeen(version, { ...row, state: state ?? 'unmapped' });
    if (state === null) return skip(id, row, changed ? 'changed_since_seen' : 'wrong_state');
    const refusal = operation.refusal(outbox, state);
    if (refusal !== null) {
      // A row that is not in a state it could have been seen in for this operation: say what happened to it.
      const moved = refusal.code === 'wrong_state' && (changed || version.exact !== row.exact);
      return skip(id, row, moved ? 'changed_since_seen' : refusal.code, refusal.because);
    }
    const step = steps.find((candidate) => candidate.source.key === row.place && young.matches.get(candidate)?.has(id) === true);
    if (step === undefined && row.published !== null && operation.sendsAgain) return skip(id, row, 'already_published', 'fits_published');
    if (outbox.proof.refused.includes(operation.key)) return skip(id, row, 'not_supported', 'failed_its_proof');
    // Nothing is installed to carry it out with.
    if (steps.length === 0) return skip(id, row, 'not_supported', 'not_installed');
    if (changed) return skip(id, row, 'changed_since_seen');
    // In the right state and as it was seen: what stands in the way is the rule's own guard.
    if (step === undefined)
      return version.exact === row.exact ? skip(id, row, 'wrong_state', 'guard_not_met') : skip(id, row, 'changed_since_seen');
    const same = step.version === 'exact' ? version.exact === row.exact : version.stable === row.stable;
    if (!same) return skip(id, row, 'changed_since_seen');
    if (step.olderThanStuckAfter !== null && young.tooYoung.has(id)) return skip(id, row, 'too_young');
    return { ...skip(id, row, 'locked'), lockedOnly: true };
  });
}

function skip(id: string, row: Whereabouts | null, code: SkipCode, because: string | null = null): Classified {
  const state = row === null ? undefined : isState(row.state) ? row.state : ('unmapped' as const);
  const detail = row === null ? null : { state, at: row.published_at, ...(because === null ? {} : { because }) };
  return {
    record: {
      event_id: id,
      event_type: row?.type ?? null,
      aggregate_id: row?.aggregate_id ?? null,
      code,
      detail,
      before: null,
      after: null,
    },
    lockedOnly: false,
  };
}

async function whereabouts(outbox: Outbox, db: Db, ids: string[]): Promise<Map<string, Whereabouts>> {
  const found = new Map<string, Whereabouts>();
  // A text that cannot be an id of this table names no row; asking for it would fail the others.
  const possible = ids.filter((id) => idFits(outbox.database.engine, outbox.main, id));
  const places: Place[] = [...livePlaces(outbox), ...(outbox.archive === null ? [] : [outbox.archive])];
  for (const place of places) {
    const missing = possible.filter((id) => !found.has(id));
    if (missing.length === 0) break;
    const { rows } = await whereaboutsStatement(outbox, place, missing).execute(db);
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}

/** For each step the rows it is for now, and among rows bound to an age those that are too young. */
export interface RowsOfSteps {
  matches: ReadonlyMap<Step, ReadonlySet<string>>;
  tooYoung: ReadonlySet<string>;
}

async function youngRows(outbox: Outbox, db: Db, steps: Step[], rows: Whereabouts[]): Promise<RowsOfSteps> {
  const matches = new Map<Step, Set<string>>();
  const tooYoung = new Set<string>();
  for (const step of steps) {
    const ids = rows.filter((row) => row.place === step.source.key).map((row) => row.id);
    if (ids.length === 0) continue;
    const at = placeSql(outbox, step.source);
    const old =
      step.olderThanStuckAfter === null ? sql<boolean>`true` : olderThanStuckAfter(outbox, step.source, at, step.olderThanStuckAfter);
    const answer = await sql<{ id: string; old: string | null }>`select ${at.id.text} as id, case when ${old} then 'old' end as old
      from ${at.from} where ${at.id.among(ids)} and ${step.match(at)}`.execute(db);
    matches.set(step, new Set(answer.rows.map((row) => row.id)));
    for (const row of answer.rows) if (row.old === null) tooYoung.add(row.id);
  }
  return { matches, tooYoung };
}
