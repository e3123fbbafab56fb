/**
 * The product as the benchmarks call it: the functions its screens and routes call, in one place, so that a benchmark
 * goes on measuring what the product does when the product does it otherwise.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { unsettledLog } from '@/lib/audit/unsettled-log';
import { openDatabase } from '@/lib/database/database';
import { applyInstall, bindForInstall } from '@/lib/interventions/install/install';
import { createPlan } from '@/lib/runs/plans/create';
import { leftoverIds } from '@/lib/runs/run/job';
import { createRuns } from '@/lib/runs/run/runs';
import { changeRunAs, runById, startRun } from '@/lib/runs/run/start';
import type { Actor } from '@/lib/shared/permissions';
import { DEFAULT_PACE } from '@/lib/shared/runs/runs';
import { insertAccount } from '@/lib/store/accounts';
import { proveAuditTakesEntries } from '@/lib/store/audit';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { settingsFor } from '@/scripts/testing/outbox';
import { examineOutbox } from '@/lib/doctor/examine';
import { openHistory } from '@/lib/history/history';
import { createCollector } from '@/lib/history/collector/collector';
import { readProgress } from '@/fixtures/collector/progress';
import { attemptsObserver } from '@/lib/history/collector/observers/attempts';
import { takeReading } from '@/lib/snapshots/readings';
import { computeInStore, type Compute } from '@/lib/live/take-reading';
import { quantiles } from '@/lib/figures/latency';
import { lineOf, sumOf } from '@/fixtures/collector/rollups';
import { ALL_TYPES, seriesOfType, typeOfSeries, decodeCell } from '@/lib/rollup/cell';
import { createSnapshots } from '@/lib/snapshots/snapshots';
import { encodeCursor, type Cursor } from '@/lib/outbox/lists/cursor';
import { newestDead } from '@/lib/outbox/lists/dead-letters';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { listOrder } from '@/lib/outbox/lists/order';
import { neighboursOf } from '@/lib/outbox/lists/neighbours';
import type { Outbox } from '@/lib/outbox/outbox';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { defineShape } from '@/lib/shape/define';
import type { EventFilter, EventPage } from '@/lib/shared/model';
import { stepSecondsOf } from '@/lib/shared/figures/windows';

export const OUTBOX_ID = 'bench';
export const PAGE_ROWS = 50;

/** A directory of the one outbox in `url`, as the configuration would make it. */
export function openDirectory(url: string, shapeKey: string, table: string, readAs?: string): OutboxDirectory {
  const shape = SHAPES.find((one) => one.key === shapeKey);
  if (shape === undefined) throw new Error(`There is no shape ${shapeKey}`);
  return createDirectory({
    databases: [{ id: OUTBOX_ID, url }],
    readAs,
    outboxes: [
      {
        id: OUTBOX_ID,
        name: shape.label,
        database: OUTBOX_ID,
        table,
        shape,
        inline: false,
        parameters: {},
        links: [],
        amount: null,
        mask: [],
      },
    ],
  });
}

/**
 * What an open outbox screen asks of the observed database each time it is refreshed, whatever its window; of published
 * rows only those the rollups do not hold yet.
 */
export async function liveReading(outbox: Outbox, foldedTo: string, compute?: Compute): Promise<void> {
  await takeReading(outbox, foldedTo, compute);
}

/** The rollups end this long before the newest rows: ten seconds that settle, and a look. */
export const BOOKS_BEHIND_SECONDS = 15;

export interface Screens {
  /** Somebody's outbox screen asks for what it shows. */
  view(): Promise<void>;
  /** Somebody's script asks for the figures. */
  call(): Promise<void>;
}

/** The screens of one process: they share what they read. */
export function openScreens(directory: OutboxDirectory, store: Store): Screens {
  const snapshots = createSnapshots(directory, { history: openHistory(store) });
  return {
    async view() {
      await snapshots.outbox(OUTBOX_ID, '1h');
    },
    async call() {
      await snapshots.summary(OUTBOX_ID, '1h');
    },
  };
}

/** The column a list is ordered by; of what is waiting, that of creation in any case. */
export function listedBy(outbox: Outbox): 'createdAt' | 'publishedAt' | 'id' {
  return ({ created: 'createdAt', happened: 'publishedAt', key: 'id' } as const)[listOrder(outbox).by];
}

/** A page of the list, the size a screen shows; `after` is the last row of the page before it: its key in the list's order, its id. */
export async function listPage(
  outbox: Outbox,
  filter: EventFilter,
  after?: { key: string; id: string },
  limit = PAGE_ROWS,
): Promise<EventPage> {
  const order: Cursor['order'] = filter.order ?? 'newest';
  const { by } = listOrder(outbox);
  return listEvents(outbox, filter, {
    limit,
    ...(after === undefined
      ? {}
      : { cursor: encodeCursor({ order, by, direction: 'next', id: after.id, key: by === 'key' ? null : after.key }) }),
  });
}

/** Dead letters by cause, as their screen shows them. */
export async function deadByCause(outbox: Outbox): Promise<void> {
  await newestDead(outbox, false);
}

/** An event's own page: the row, and the others of its aggregate. */
export async function eventPage(outbox: Outbox, id: string): Promise<void> {
  const found = await getEvent(outbox, id);
  if (found === null) throw new Error(`There is no event ${id}`);
  await neighboursOf(outbox, found.event);
}

export const ALL_SERIES = ALL_TYPES;
export const seriesNamed = seriesOfType;

/** Percentiles of one series over a span of minutes, in ms; and how many slices they were read from. */
export async function historyPercentiles(
  store: Store,
  outbox: string,
  series: string,
  fromMinute: number,
  toMinute: number,
  fractions: readonly number[],
): Promise<{ percentiles: (number | null)[]; rollupRows: number }> {
  let rollupRows = 0;
  const sum = await sumOf(
    async (span) => {
      const rollups = await openHistory(store).rollups(span);
      rollupRows += rollups.length;
      return rollups;
    },
    { outbox, series, fromMinute, toMinute },
  );
  const latency = sum.cells.get(series)?.latency;
  return { percentiles: latency === undefined ? fractions.map(() => null) : quantiles(latency, fractions), rollupRows };
}

/** The same for every step of a chart of thirty days. */
export async function historySeries(
  store: Store,
  outbox: string,
  series: string,
  fromMinute: number,
  toMinute: number,
  fractions: readonly number[],
): Promise<void> {
  const line = await lineOf((part) => openHistory(store).rollups(part), {
    outbox,
    series,
    fromMinute,
    toMinute,
    stepMinutes: stepSecondsOf({ window: '30d' }) / 60,
  });
  for (const { cell } of line.values()) quantiles(cell.latency, fractions);
}

const TICK_MS = 5_000;
const RETENTION_DAYS = 90;

/** The collector as the console runs it, but for the depth: that comes from the reading all viewers share, measured elsewhere. */
export function collect(
  url: string,
  shapeKey: string,
  table: string,
  store: Store,
  onError: (error: unknown) => void,
  retentionDays = RETENTION_DAYS,
): { stop(): Promise<void> } {
  const directory = openDirectory(url, shapeKey, table, 'collector');
  const collector = createCollector({
    directory,
    store,
    observers: [attemptsObserver],
    tickMs: TICK_MS,
    retentionDays,
    depthNow: () => Promise.resolve(null),
    onError: (_, error) => onError(error),
  });
  return started(directory, collector);
}

function started(directory: Pick<OutboxDirectory, 'close'>, collector: ReturnType<typeof createCollector>): { stop(): Promise<void> } {
  collector.start();
  return {
    async stop() {
      await collector.stop();
      await directory.close();
    },
  };
}

/** The collector as the console runs it, of a table of dead events that both engines can have; with the depth as screens read it. */
export function collectCauses(
  url: string,
  table: string,
  store: Store,
  tickMs: number,
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  const shape = defineShape({
    key: 'inline',
    label: 'settlements',
    origin: 'bench',
    engines: ['postgres', 'mysql'],
    table,
    columns: { id: 'id', type: 'kind', error: 'error', createdAt: 'made', payload: 'body' },
    states: [
      { state: 'dead', when: { column: 'status', equals: 'failed' } },
      { state: 'pending', when: { column: 'status', equals: 'new' } },
      { state: 'published', when: { column: 'status', equals: 'out' } },
    ],
  });
  const amount = { value: 'payload.amount', currency: 'payload.currency' };
  const settings = {
    id: OUTBOX_ID,
    name: shape.label,
    database: OUTBOX_ID,
    table,
    shape,
    inline: true,
    parameters: {},
    links: [],
    amount,
    mask: [],
  };
  const directory = createDirectory({ databases: [{ id: OUTBOX_ID, url }], readAs: 'collector', outboxes: [settings] });
  const snapshots = createSnapshots(directory, { history: openHistory(store), compute: computeInStore(store) });
  const collector = createCollector({
    ...{ directory, store, observers: [], tickMs, retentionDays: RETENTION_DAYS },
    depthNow: (outbox) => snapshots.depthNow(outbox),
    onError: (_, error) => onError(error),
  });
  return started(directory, collector);
}

/** How far the rollups are, and whether nothing before it is left to read; null before the first look. */
export async function collectedUpTo(store: Store): Promise<{ foldedTo: string; whole: boolean } | null> {
  const progress = await readProgress(store, OUTBOX_ID);
  return progress === null ? null : { foldedTo: progress.foldedTo, whole: progress.unread.length === 0 };
}

/** Events published, as the rollups have it. */
export async function eventsInBooks(store: Store): Promise<number> {
  const minute = Math.ceil(Date.now() / 60_000);
  const sum = await sumOf((span) => openHistory(store).rollups(span), {
    outbox: OUTBOX_ID,
    series: ALL_TYPES,
    fromMinute: minute - RETENTION_DAYS * 1_440,
    toMinute: minute + 1,
  });
  return sum.cells.get(ALL_TYPES)?.published ?? 0;
}

/** Events published, as the rollups have them, by `<minute> <type>`. */
export async function bookedByMinuteAndType(store: Store, fromMinute: number, toMinute: number): Promise<Map<string, number>> {
  const rollups = await openHistory(store).rollups({ outbox: OUTBOX_ID, tier: 'minute', fromMinute, toMinute });
  return new Map(
    rollups.flatMap(({ atMinute, series, data }): [string, number][] => {
      const type = typeOfSeries(series);
      const { published } = decodeCell(data);
      return type === null || published === 0 ? [] : [[`${atMinute} ${type}`, published]];
    }),
  );
}

/** Minutes since the epoch that may still lack rows; none before the first look. */
export async function provisionalMinutes(store: Store): Promise<number[]> {
  return (await readProgress(store, OUTBOX_ID))?.suspects ?? [];
}

/** An index the doctor advises: its statement, and the size it says it will have. */
export interface Advice {
  check: string;
  sql: string;
  estimatedBytes: number;
}

/** What the doctor finds, and the indexes it prints the statements of. */
export async function doctorsAdvice(outbox: Outbox): Promise<{ checks: string[]; indexes: Advice[] }> {
  const { examination } = await examineOutbox(outbox, []);
  return {
    checks: examination.findings.map(({ check }) => check),
    indexes: examination.findings.flatMap(({ check, cure, values }) =>
      check.startsWith('index_') && cure !== null ? [{ check, sql: cure, estimatedBytes: Number(values.estimatedBytes) }] : [],
    ),
  };
}

export interface CarriedOut {
  /** How long each transaction took, in milliseconds. */
  tookMs: number[];
  /** What the plan's events take in the store. */
  planBytes: number;
}

/** A plan of all dead events of an outbox, carried out by a run to its end; the store has no other plan. */
export async function carryOut(
  url: string,
  storeUrl: string,
  { shape: key, table }: { shape: string; table: string },
): Promise<CarriedOut> {
  const shape = SHAPES.find((one) => one.key === key);
  if (shape === undefined) throw new Error(`There is no shape ${key}`);
  const migrated = await migrateStore(storeUrl);
  if (!migrated.ok) throw new Error(migrated.detail);
  const store = openStore(storeUrl);
  const settings = settingsFor(shape, { id: OUTBOX_ID, table });
  const before = openDatabase({ id: OUTBOX_ID, url, operatorUrl: url });
  await applyInstall(await bindForInstall(settings, before, url), url).finally(() => before.close());
  const directory = createDirectory({
    databases: [{ id: OUTBOX_ID, url, operatorUrl: url }],
    outboxes: [{ ...settings, database: OUTBOX_ID }],
  });
  const id = await insertAccount(store.db, { email: 'bench@example.com', passwordHash: '-', role: 'operator' });
  const maker: Actor = { id: `account:${id ?? ''}`, name: 'bench@example.com', role: 'operator', kind: 'account' };
  const deps = { store, directory, approvals: [], leftovers: leftoverIds };
  const unsettled = unsettledLog(store, () => undefined);
  const requireStore = () => proveAuditTakesEntries(store.db);
  const runs = createRuns({ ...deps, unsettled, requireStore, onRecord: () => undefined, onError: (_, error) => console.error(error) });
  try {
    const request = { operation: 'requeue', reason: 'the broker is back', source: { filter: 'state=dead' } };
    const plan = await createPlan(deps, maker, OUTBOX_ID, request, 'bench');
    const run = await startRun(deps, maker, plan.id, DEFAULT_PACE, 'bench');
    runs.start();
    for (let state = 'queued'; state !== 'done'; await sleep(200)) {
      const { because, ...now } = await runById(deps, run.id);
      state = now.state;
      // Somebody says that it goes on after the first.
      if (because !== null) await changeRunAs(deps, maker, run.id, 'resume');
    }
    const took = await store.db.selectFrom('run_batch').select('tookMs').where('runId', '=', run.id).execute();
    const stored = await sql<{ bytes: string }>`select pg_total_relation_size('plan_chunk') as bytes`.execute(store.db);
    return { tookMs: took.flatMap(({ tookMs }) => tookMs ?? []), planBytes: Number(stored.rows[0]?.bytes) };
  } finally {
    await runs.stop();
    await Promise.all([directory.close(), store.close()]);
  }
}
