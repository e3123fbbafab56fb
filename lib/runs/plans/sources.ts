/** The events of a plan's source, read step by step, oldest first. */
import { rowsById, type ById } from '@/lib/interventions/classify';
import { listEvents } from '@/lib/outbox/lists/list-events';
import type { Outbox } from '@/lib/outbox/outbox';
import { eventColumns, toEvent, type EventRow } from '@/lib/outbox/rows/row';
import { describeFilterErrors, parseEventFilter } from '@/lib/shared/lists/event-filter';
import type { EventFilter, VersionedEvent } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { PLAN_IDS_MAX, PLAN_STEP, type PlanSource } from '@/lib/shared/runs/plans';
import type { State } from '@/lib/shared/states';
import { outboxOfRun } from '@/lib/store/plans';
import { causeIds } from '@/lib/outbox/lists/causes';
import type { PlanDeps } from './plan';

export interface Step {
  events: VersionedEvent[];
  /** Rows read for it. */
  looked: number;
  /** Set on the last step: whether that was all there is. */
  complete?: boolean;
}

/** `from`: the states that the operation takes. Throws Problem `invalid` with what to do. */
export async function* stepsFrom(deps: PlanDeps, outbox: Outbox, source: PlanSource, from: readonly State[]): AsyncGenerator<Step> {
  if ('filter' in source) {
    const { filter, errors } = parseEventFilter(new URLSearchParams(source.filter));
    const fields = describeFilterErrors(errors);
    if (Object.keys(fields).length > 0) throw new Problem('invalid', 'The filter cannot be read: nothing was planned', { fields });
    // Who names no state means what can be changed: a table is mostly events that are out.
    yield* ofList(outbox, { ...filter, state: filter.state ?? [...from] }, () => true);
  } else if ('cause' in source) {
    const idOf = causeIds();
    yield* ofList(outbox, { state: ['dead'] }, (event) => idOf(event) === source.cause);
  } else if ('ids' in source) {
    yield* ofIds(outbox, distinct(source.ids), 'all');
  } else {
    const { db } = deps.store;
    if ((await outboxOfRun(db, source.run)) !== outbox.id) {
      throw new Problem('invalid', 'There is no such run on this outbox: nothing was planned', {
        fields: { source: 'name a run of this outbox' },
      });
    }
    yield* ofIds(outbox, await deps.leftovers(db, source.run, source.codes), 'left');
  }
}

async function* ofList(outbox: Outbox, filter: EventFilter, wanted: (event: VersionedEvent) => boolean): AsyncGenerator<Step> {
  for (let cursor: string | undefined; ;) {
    const request = { limit: PLAN_STEP, ...(cursor === undefined ? {} : { cursor }) };
    const { events, nextCursor, searched } = await listEvents(outbox, { ...filter, order: 'oldest' }, request);
    const step = { events: events.filter(wanted), looked: searched.rows };
    if (nextCursor === null) {
      yield { ...step, complete: searched.complete };
      return;
    }
    yield step;
    cursor = nextCursor;
  }
}

const distinct = (ids: readonly string[]): string[] => [...new Set(ids)];

/** Most ids that a refusal names. */
const NAMED_MAX = 10;

/** `all`: an id that is not there is an error. `left`: it went away meanwhile. */
async function* ofIds(outbox: Outbox, ids: readonly string[], which: 'all' | 'left'): AsyncGenerator<Step> {
  if (which === 'all' && ids.length > PLAN_IDS_MAX) {
    throw new Problem('invalid', `A plan takes ${PLAN_IDS_MAX} ids, and these are ${ids.length}: make more than one, or plan a filter`, {
      fields: { source: `name at most ${PLAN_IDS_MAX} ids` },
    });
  }
  const found: VersionedEvent[] = [];
  const missing: string[] = [];
  for (let at = 0; at < ids.length; at += PLAN_STEP) {
    const some = ids.slice(at, at + PLAN_STEP);
    const rows = await outbox.database.read((db) => rowsById<EventRow & ById>(outbox, db, some, (place) => eventColumns(outbox, place)));
    const events = some.flatMap((id) => rows.get(id) ?? []).map((row) => toEvent(outbox, row.place, row));
    if (which === 'left') yield { events, looked: some.length };
    else found.push(...events);
    missing.push(...some.filter((id) => !rows.has(id)));
  }
  if (which === 'left') return;
  if (missing.length > 0) {
    const named = missing.slice(0, NAMED_MAX).map((id) => JSON.stringify(id.slice(0, 80)));
    const others = missing.length > named.length ? ` and ${missing.length - named.length} more` : '';
    const unknown = `no event ${named.join(', ')}${others}: correct or leave out these ids`;
    throw new Problem('invalid', `Outbox ${outbox.id} has ${unknown}. Nothing was planned`, { fields: { source: `has ${unknown}` } });
  }
  found.sort(
    (one, other) => compare(one.createdAt ?? '', other.createdAt ?? '') || one.id.localeCompare(other.id, 'en', { numeric: true }),
  );
  for (let at = 0; at < found.length; at += PLAN_STEP) {
    const events = found.slice(at, at + PLAN_STEP);
    yield { events, looked: events.length };
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
