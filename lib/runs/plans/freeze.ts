/** Freezes the events of a source: packed, counted and warned of while they are read, so that 250,000 of them take little memory. */
import { isId } from '@/lib/interventions/intervene';
import { stepsOf } from '@/lib/interventions/operation';
import { operationOf, statementsFor } from '@/lib/interventions/preview';
import { capabilitiesOf, ruleFor } from '@/lib/outbox/capabilities';
import { numberedKey } from '@/lib/outbox/indexes/index-fit';
import { inOrder, orderWithin } from '@/lib/outbox/lists/neighbours';
import type { Outbox } from '@/lib/outbox/outbox';
import { decodeVersion } from '@/lib/outbox/rows/version';
import { isFollowed } from '@/lib/shared/changes/fates';
import type { VersionedEvent, EventFilter } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { stopwatch } from '@/lib/shared/async/stopwatch';
import { PLAN_CHUNK, PLAN_EVENTS_MAX, type PlanRequest, PLAN_IDS_MAX, PLAN_STEP, type PlanSource } from '@/lib/shared/runs/plans';
import type { EventState, State } from '@/lib/shared/states';
import { eventsById, rowsOfSteps } from '@/lib/interventions/classify';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { describeFilterErrors, parseEventFilter } from '@/lib/shared/lists/event-filter';
import { outboxOfRun } from '@/lib/store/plans';
import { causeIds } from '@/lib/outbox/lists/causes';
import { addSums, isIdempotent, joinSums, spendOf, type Spend } from '../approvals/limits';
import { aggregateHash, packChunk, type PlannedEvent } from './chunk';
import { digestOfEvents, type PlanDeps, type PlanFacts } from './plan';

export interface Frozen {
  count: number;
  chunks: Buffer[];
  /** Digest of the chunks' plain bytes. */
  events: string;
  facts: Omit<PlanFacts, 'policy'>;
}

/** Within the time a client waits for an answer. */
const FREEZE_MS = 120_000;
/** Of it, for looking at the order of aggregates: then it is not looked. */
const ORDER_MS = 10_000;
/** Most types that a plan names. */
const TYPES_MAX = 50;

/** Throws Problem `invalid` (not offered, no events, too many) and `timeout`, with what to do. */
export async function freeze(deps: PlanDeps, outbox: Outbox, { operation, source }: PlanRequest): Promise<Frozen> {
  const [elapsedMs, ordering] = [stopwatch(), createOrdering(outbox, operation)];
  const from = statesOf(outbox, operation);
  const tally = createTally(outbox, operation);
  const seen = new Set<string>();
  let [rows, complete] = [0, true];
  for await (const step of stepsFrom(deps, outbox, source, from)) {
    rows += step.looked;
    complete = step.complete ?? complete;
    // One that is read again further on has moved meanwhile: it is planned as it was seen first.
    const fresh = step.events.filter(({ id }) => !seen.has(id));
    const fitting = fresh.filter(({ state }) => (from as readonly EventState[]).includes(state));
    tally.warn('wrong_state', fresh.length - fitting.length);
    const planned = 'ids' in source || 'run' in source ? fresh : fitting;
    if (!planned.every(({ id }) => isId(id)))
      throw wrongSource(
        'An id among these events is longer than 500 characters, or has a NUL: narrow the filter to leave it out',
        'finds an id that cannot be recorded',
      );
    for (const { id } of planned) seen.add(id);
    tally.add(planned, step.ordered);
    for (const [code, count] of await warnedBySteps(outbox, operation, fitting)) tally.warn(code, count);
    await ordering.look(fitting.map(({ id }) => id));
    if (tally.count() > PLAN_EVENTS_MAX) throw tooMany();
    if (elapsedMs() > FREEZE_MS) {
      const within = `within ${FREEZE_MS / 1_000} seconds (${rows} rows)`;
      throw new Problem('timeout', `These events were not read ${within}: narrow the filter. Nothing was planned`);
    }
  }
  if (tally.count() === 0) throw nothingToChange();
  const { order, notLooked } = ordering.found();
  for (const [code, count] of order) tally.warn(code, count);
  const { facts, ...frozen } = tally.end();
  const sql = await statementsFor(outbox, operation, facts.samples);
  const expectedSeconds = secondsFor(frozen.count, isFollowed(operation) ? ((await deps.publishedPerMinute?.(outbox.id)) ?? null) : null);
  return { ...frozen, facts: { ...facts, searched: { rows, complete }, orderNotLooked: notLooked, sql, expectedSeconds } };
}

const wrongSource = (detail: string, source: string): Problem => new Problem('invalid', detail, { fields: { source } });

const nothingToChange = (): Problem =>
  wrongSource('None of these events can be changed by this operation now: look again, and choose others', 'finds no event');

const tooMany = (): Problem =>
  wrongSource(
    `A plan takes ${PLAN_EVENTS_MAX} events, and here are more: narrow the filter, for instance by from and to`,
    `finds more than ${PLAN_EVENTS_MAX} events`,
  );

/** At half of the most that the relay published of late. */
export const secondsFor = (count: number, publishedPerMinute: number | null): number | null =>
  publishedPerMinute === null || publishedPerMinute <= 0 ? null : Math.ceil(count / ((publishedPerMinute / 60) * 0.5));

/** The states that an operation takes. Throws Problem `invalid` if this outbox does not offer it. */
function statesOf(outbox: Outbox, operation: string): State[] {
  operationOf(operation);
  const offer = capabilitiesOf(outbox).operations[operation];
  if (offer?.offered === true) return offer.from;
  const detail = `Outbox ${outbox.id} does not offer ${operation} (${offer?.because ?? 'not_in_schema'}): choose another operation`;
  throw new Problem('invalid', detail, { fields: { operation: 'is not offered by this outbox' } });
}

function createOrdering(outbox: Outbox, operation: string) {
  const order = new Map<string, number>();
  let [notLooked, spentMs] = [0, 0];
  return {
    async look(ids: readonly string[]): Promise<void> {
      if (ids.length === 0 || !isFollowed(operation)) return;
      const elapsedMs = stopwatch();
      const found = spentMs > ORDER_MS ? 'not_looked' : await orderWithin(outbox, ids);
      spentMs += elapsedMs();
      if (found === 'not_looked') notLooked += ids.length;
      else for (const { code, count } of found ?? []) order.set(code, (order.get(code) ?? 0) + count);
    },
    found: () => ({ order, notLooked }),
  };
}

/** What the shape says of events in this state, as the dialog and the event's page do. */
function warningsOf(outbox: Outbox, key: string, state: EventState): string[] {
  if (state === 'archived' || state === 'unmapped') return [];
  const operation = operationOf(key);
  const rule = isFollowed(key) ? ruleFor(outbox, key, state) : null;
  const archiving = key === 'archive' && state !== 'dead' ? outbox.shape.archive?.warnings : undefined;
  const own = rule !== null && 'version' in rule ? rule.warnings : (archiving ?? []);
  return [...new Set([...own, ...(operation.sendsAgain ? (outbox.shape.cautions[state] ?? []) : [])])];
}

/** What is restored comes back as it went: each step says what that means, and which events it takes, as in the dialog. */
async function warnedBySteps(outbox: Outbox, key: string, events: readonly VersionedEvent[]): Promise<[code: string, count: number][]> {
  if (key !== 'restore' || events.length === 0) return [];
  const steps = stepsOf(outbox, operationOf(key)).filter(({ warnings }) => warnings.length > 0);
  const rows = events.map(({ id }) => ({ id, place: 'archive' as const }));
  const { matches } = await outbox.database.read((db) => rowsOfSteps(outbox, db, steps, rows));
  return [...matches].flatMap(([{ warnings }, { size }]) => warnings.map((code): [string, number] => [code, size]));
}

function createTally(outbox: Outbox, operation: string) {
  const digest = digestOfEvents();
  const chunks: Buffer[] = [];
  const types = new Map<string | null, number>();
  const warnings = new Map<string, number>();
  const samples = new Map<string, PlanFacts['samples'][number]>();
  const ofState = new Map<EventState, string[]>();
  const { consumers = {} } = outbox.settings;
  let open: { event: PlannedEvent; at: string }[] = [];
  let ordered = true;
  let [sums, oldestAt]: [Record<string, string>, string | null] = [{}, null];
  let spend: Spend = { count: 0, sums: {}, withoutAmount: 0, notIdempotent: 0 };

  const warn = (code: string, more: number): void => {
    if (more > 0) warnings.set(code, (warnings.get(code) ?? 0) + more);
  };
  const close = (size: number): void => {
    for (; open.length > 0 && open.length >= size; open = open.slice(PLAN_CHUNK)) {
      const chunk = open.slice(0, PLAN_CHUNK).map(({ event }) => event);
      digest.add(chunk);
      chunks.push(packChunk(chunk));
    }
  };
  const note = ({ id, version, state, type, createdAt, amount, currency, aggregateType, aggregateId }: VersionedEvent): void => {
    open.push({ at: createdAt ?? '', event: { id, version, amount, currency, aggregate: aggregateHash(aggregateType, aggregateId) } });
    types.set(type, (types.get(type) ?? 0) + 1);
    if (createdAt !== null && (oldestAt === null || createdAt < oldestAt)) oldestAt = createdAt;
    const place = decodeVersion(version)?.place;
    if (place !== undefined && !samples.has(place)) samples.set(place, { id, version });
    const own = ofState.get(state) ?? warningsOf(outbox, operation, state);
    ofState.set(state, own);
    for (const code of own) warn(code, 1);
    // Where nothing is declared of any type, there is nothing to warn of.
    if (isFollowed(operation) && Object.keys(consumers).length > 0 && !isIdempotent(consumers, type)) warn('consumer_not_idempotent', 1);
  };
  return {
    warn,
    count: () => spend.count,
    /** Events that do not come oldest first are put in order at the end. */
    add(events: readonly VersionedEvent[], oldestFirst: boolean): void {
      ordered &&= oldestFirst;
      for (const event of events) note(event);
      sums = joinSums([sums, addSums(events)]);
      const more = spendOf(events, outbox.settings);
      spend = {
        count: spend.count + more.count,
        sums: joinSums([spend.sums, more.sums]),
        withoutAmount: spend.withoutAmount + more.withoutAmount,
        notIdempotent: spend.notIdempotent + more.notIdempotent,
      };
      if (ordered) close(PLAN_CHUNK);
    },
    end() {
      if (!ordered) open.sort((one, other) => inOrder(one.at, other.at) || byNumber.compare(one.event.id, other.event.id));
      close(0);
      const largest = [...types].sort(([, one], [, other]) => other - one).slice(0, TYPES_MAX);
      const facts = {
        ...{ sums, withoutAmount: spend.withoutAmount, oldestAt, spend },
        types: largest.map(([type, count]) => ({ type, count })),
        warnings: Object.fromEntries(warnings),
        samples: [...samples.values()],
      };
      return { count: spend.count, chunks, events: digest.hex(), facts };
    },
  };
}

interface Step {
  events: VersionedEvent[];
  /** Rows read for it. */
  looked: number;
  /** Whether it is older than what follows. */
  ordered: boolean;
  /** Set on the last step: whether that was all there is. */
  complete?: boolean;
}

/** `from`: the states that the operation takes. Throws Problem `invalid` with what to do. */
async function* stepsFrom(deps: PlanDeps, outbox: Outbox, source: PlanSource, from: readonly State[]): AsyncGenerator<Step> {
  if ('filter' in source) {
    const { filter, errors } = parseEventFilter(new URLSearchParams(source.filter));
    const fields = describeFilterErrors(errors);
    if (Object.keys(fields).length > 0) throw new Problem('invalid', 'The filter cannot be read: nothing was planned', { fields });
    // Who names no state means what can be changed: a table is mostly events that are out.
    if (filter.state?.some((state) => (from as readonly EventState[]).includes(state)) === false) throw nothingToChange();
    yield* ofList(outbox, { ...filter, state: filter.state ?? [...from] }, () => true);
  } else if ('cause' in source) {
    const idOf = causeIds();
    yield* ofList(outbox, { state: ['dead'] }, (event) => idOf(event) === source.cause);
  } else if ('ids' in source) {
    yield* ofIds(outbox, [...new Set(source.ids)], 'all');
  } else {
    const { db } = deps.store;
    if ((await outboxOfRun(db, source.run)) !== outbox.id)
      throw wrongSource('There is no such run on this outbox: nothing was planned', 'name a run of this outbox');
    yield* ofIds(outbox, await deps.leftovers(db, source.run, source.codes), 'left');
  }
}

async function* ofList(outbox: Outbox, filter: EventFilter, wanted: (event: VersionedEvent) => boolean): AsyncGenerator<Step> {
  for (let cursor: string | undefined; ;) {
    const request = { limit: PLAN_STEP, ...(cursor === undefined ? {} : { cursor }) };
    const { events, nextCursor, searched, orderedBy } = await listEvents(outbox, { ...filter, order: 'oldest' }, request);
    const ordered = orderedBy !== 'key' || numberedKey(outbox.main) !== null;
    const step = { events: events.filter(wanted), looked: searched.rows, ordered };
    if (nextCursor === null) {
      yield { ...step, complete: searched.complete };
      return;
    }
    yield step;
    cursor = nextCursor;
  }
}

/** Most ids that a refusal names. */
const NAMED_MAX = 10;

/** `all`: an id that is not there is an error. `left`: it went away meanwhile. */
async function* ofIds(outbox: Outbox, ids: readonly string[], which: 'all' | 'left'): AsyncGenerator<Step> {
  if (which === 'all' && ids.length > PLAN_IDS_MAX) {
    const detail = `A plan takes ${PLAN_IDS_MAX} ids, and these are ${ids.length}: make more than one, or plan a filter`;
    throw wrongSource(detail, `name at most ${PLAN_IDS_MAX} ids`);
  }
  const missing: string[] = [];
  for (let at = 0; at < ids.length; at += PLAN_STEP) {
    const some = ids.slice(at, at + PLAN_STEP);
    const rows = await eventsById(outbox, some);
    const events = some.flatMap((id) => rows.get(id) ?? []);
    yield { events, looked: some.length, ordered: which === 'left' };
    missing.push(...some.filter((id) => !rows.has(id)));
  }
  if (which === 'all' && missing.length > 0) {
    const named = missing.slice(0, NAMED_MAX).map((id) => JSON.stringify(id.slice(0, 80)));
    const others = missing.length > named.length ? ` and ${missing.length - named.length} more` : '';
    const unknown = `no event ${named.join(', ')}${others}: correct or leave out these ids`;
    throw wrongSource(`Outbox ${outbox.id} has ${unknown}. Nothing was planned`, `has ${unknown}`);
  }
}

const byNumber = new Intl.Collator('en', { numeric: true });
