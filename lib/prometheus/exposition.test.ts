import { describe, expect, it } from 'vitest';
import type { FleetDatabase } from '@/lib/shared/figures/fleet';
import { exact, unavailable } from '@/lib/shared/figures/measured';
import type { Carrying } from '@/lib/shared/changes/carrying';
import { metricFigures } from '@/lib/shared/figures/metrics';
import type { CollectorStatus } from '@/lib/shared/figures/collection';
import type { Summary } from '@/lib/shared/model';
import { VERDICTS } from '@/lib/shared/figures/verdicts';
import type { Current } from '@/lib/snapshots/snapshots';
import { noFigures } from '@/lib/figures/summarise';
import { createCreatedTotals, createTypeLabels, OTHER, TYPES_MAX, type TypeLabels } from './counters';
import { auditSamples, databaseSamples, samplesOf, type Known, type Remembered } from './samples';
import { FAMILIES } from './families';
import { render } from './exposition';
import { parseExposition, SLOT, valueOf, type Parsed } from '@/fixtures/exposition';
import { LATENCY_LE_SECONDS, type OutboxTotals } from './totals';

const AS_OF = '2026-11-21T10:00:00.000Z';
const complete: Carrying = { database: 'orders', outboxes: [], lacking: 0, why: null, since: null, late: false, completeAt: AS_OF };
const healthy: Summary['diagnosis'] = { verdict: 'healthy', since: null, evidence: [], holds: [{ verdict: 'healthy', since: null }] };
const summaryOf = (more: Partial<Summary> = {}): Summary => ({
  ...noFigures('1h', AS_OF, 'not_in_schema'),
  diagnosis: healthy,
  ...more,
});
const currentOf = (id: string, more: Partial<Current> = {}): Current => ({
  id,
  up: true,
  summary: summaryOf(),
  cost: { readings: 3, rows: 70, milliseconds: 42 },
  ...more,
});
const totalsOf = (more: Partial<OutboxTotals> = {}): OutboxTotals => ({
  created: 12,
  published: 10,
  latency: { counts: [...LATENCY_LE_SECONDS.map(() => 0), 0], sumSeconds: 0 },
  types: new Map(),
  ...more,
});
const typeFigures = (type: string, waiting: number, dead: number): Summary['byType'][number] => ({
  type,
  waiting,
  dead,
  retries: null,
  errors: null,
  p95Ms: null,
});

const counts = { inUse: 2, idle: 1, waiting: 5, limit: 12 };
const databases: FleetDatabase[] = [
  {
    id: 'orders',
    engine: 'postgres',
    version: 'PostgreSQL 18.3',
    state: 'up',
    since: AS_OF,
    why: null,
    outboxes: 2,
    connections: { reader: counts, collector: { ...counts, inUse: 0 } },
    server: { open: 5, limit: 24 },
  },
  {
    id: 'new',
    engine: 'mysql',
    version: null,
    state: 'unknown',
    since: AS_OF,
    why: null,
    outboxes: 1,
    connections: {},
    server: { open: 0, limit: 24 },
  },
];

async function exposed(
  outboxes: readonly (Partial<Known> & { current: Current })[],
  labels: TypeLabels = createTypeLabels(),
  created = createCreatedTotals(),
): Promise<Parsed> {
  const told = tell(outboxes, { labels, created });
  const values = [...told.flatMap((one) => one.values), ...databaseSamples(databases), ...auditSamples([complete])];
  return parseExposition(await render({ values, latencies: told.flatMap((one) => one.latencies) }));
}

const tell = (outboxes: readonly (Partial<Known> & { current: Current })[], remembered: Remembered) =>
  outboxes.map((known) => samplesOf({ totals: null, collector: collecting, ...known }, remembered));

const depthOf = (pending: number, dead: number): Summary['depth'] => ({
  pending: exact(pending),
  retrying: exact(1),
  processing: exact(0),
  dead: exact(dead),
  waiting: exact(pending + 1),
});

describe('the text', () => {
  it('is Prometheus text of exactly the families that are declared, each with its help and type', async () => {
    const parsed = await exposed([{ current: currentOf('a'), totals: totalsOf() }]);
    expect(Object.fromEntries(parsed.families)).toEqual(
      Object.fromEntries(Object.entries(FAMILIES).map(([name, { type, help }]) => [name, { type, help }])),
    );
  });

  it('uses the labels that are declared, and no others', async () => {
    const full = currentOf('a', {
      summary: summaryOf({
        ...metricFigures(() => ({ value: 1, known: 'exact' })),
        depth: depthOf(4, 2),
        oldestPendingAt: AS_OF,
        lastPublishedAt: AS_OF,
        byType: [typeFigures('t', 5, 2)],
        slot: SLOT,
      }),
    });
    const parsed = await exposed([{ current: full, totals: totalsOf({ types: new Map([['t', { retries: 1, errors: 1 }]]) }) }]);
    for (const [family, { labels }] of Object.entries(FAMILIES)) {
      const used = parsed.series.filter((one) => one.family === family).flatMap((one) => Object.keys(one.labels));
      expect([...new Set(used)].sort(), family).toEqual([...labels].sort());
    }
  });
});

describe('a database', () => {
  it('tells whether it can be reached once that is known, and what is held of it by kind of work', async () => {
    const parsed = await exposed([]);
    const value = (name: string, labels: Record<string, string>) => valueOf(parsed, name, labels);
    expect(value('outbox_console_database_up', { database: 'orders' })).toBe(1);
    expect(value('outbox_console_database_up', { database: 'new' })).toBeUndefined();
    expect(value('outbox_console_connections', { database: 'orders', role: 'reader', use: 'active' })).toBe(2);
    expect(value('outbox_console_connections', { database: 'orders', role: 'collector', use: 'active' })).toBe(0);
    expect(value('outbox_console_connections_limit', { database: 'orders', role: 'reader' })).toBe(12);
    expect(value('outbox_console_connections_waiting', { database: 'orders', role: 'reader' })).toBe(5);
    expect(parsed.series.filter(({ labels }) => labels.role === 'operator')).toEqual([]);
  });
});

const collecting: CollectorStatus = {
  state: 'collecting',
  method: 'published_index',
  foldedTo: new Date(Date.now() - 30_000).toISOString(),
  watchedSince: AS_OF,
  backfill: { share: 0.25, from: AS_OF },
  everyMs: 5_000,
  cost: { statements: 7, rows: 900, milliseconds: 1_500 },
  advice: null,
};

describe('an outbox', () => {
  it('tells its depths, ages and verdict', async () => {
    const parsed = await exposed([
      {
        current: currentOf('a', {
          summary: summaryOf({
            depth: depthOf(4, 2),
            oldestPendingAt: '2026-11-21T09:58:30.000Z',
            lastPublishedAt: '2026-11-21T09:59:59.500Z',
            diagnosis: {
              ...healthy,
              verdict: 'dead_growing',
              holds: [
                { verdict: 'dead_growing', since: null },
                { verdict: 'stuck_processing', since: null },
              ],
            },
          }),
        }),
      },
    ]);
    const value = (name: string, labels: Record<string, string> = {}) => valueOf(parsed, name, { outbox: 'a', ...labels });
    expect(value('outbox_console_up')).toBe(1);
    expect(value('outbox_console_depth_events', { state: 'pending' })).toBe(4);
    expect(value('outbox_console_depth_events', { state: 'dead' })).toBe(2);
    expect(value('outbox_console_waiting_events')).toBe(5);
    expect(value('outbox_console_oldest_pending_age_seconds')).toBe(90);
    expect(value('outbox_console_last_published_timestamp_seconds')).toBe(Date.parse('2026-11-21T09:59:59.500Z') / 1_000);
    expect(value('outbox_console_reading_queries_total')).toBe(3);
    expect(value('outbox_console_reading_rows_total')).toBe(70);
    expect(VERDICTS.filter((verdict) => value('outbox_console_verdict', { verdict }) === 1)).toEqual(['dead_growing']);
    expect(VERDICTS.filter((verdict) => value('outbox_console_verdict', { verdict }) === 0)).toHaveLength(VERDICTS.length - 1);
    const held = (expected: number) => VERDICTS.filter((verdict) => value('outbox_console_verdict_holds', { verdict }) === expected);
    expect(held(1)).toEqual(['dead_growing', 'stuck_processing']);
    expect(held(0)).toHaveLength(VERDICTS.length - 2);
  });

  it('leaves out what its table cannot say, and marks where counting stopped', async () => {
    const depth = { ...depthOf(0, 0), dead: unavailable('not_in_schema'), pending: { count: 10_000, known: 'capped' as const } };
    const parsed = await exposed([{ current: currentOf('a', { summary: summaryOf({ depth }) }) }]);
    const value = (name: string, state: string) => valueOf(parsed, name, { outbox: 'a', state });
    expect(value('outbox_console_depth_events', 'dead')).toBeUndefined();
    expect(value('outbox_console_depth_capped', 'dead')).toBeUndefined();
    expect([value('outbox_console_depth_events', 'pending'), value('outbox_console_depth_capped', 'pending')]).toEqual([10_000, 1]);
    expect(value('outbox_console_depth_capped', 'retrying')).toBe(0);
    expect(valueOf(parsed, 'outbox_console_oldest_pending_age_seconds', { outbox: 'a' })).toBeUndefined();
  });

  it('has an oldest of no age when nothing waits', async () => {
    const depth = { ...depthOf(0, 0), retrying: exact(0), waiting: exact(0) };
    const parsed = await exposed([{ current: currentOf('a', { summary: summaryOf({ depth }) }) }]);
    expect(valueOf(parsed, 'outbox_console_oldest_pending_age_seconds', { outbox: 'a' })).toBe(0);
  });

  it('that is away tells no old depth or age: its verdict, its totals and that it is down', async () => {
    const summary = summaryOf({
      depth: depthOf(4, 2),
      oldestPendingAt: AS_OF,
      lastPublishedAt: AS_OF,
      byType: [typeFigures('t', 5, 2)],
      diagnosis: { ...healthy, verdict: 'source_down' },
    });
    const parsed = await exposed([
      { current: currentOf('gone', { up: false, summary }), totals: totalsOf() },
      { current: currentOf('here', { summary }) },
    ]);
    const families = new Set(parsed.series.filter((one) => one.labels.outbox === 'gone').map((one) => one.family));
    expect(valueOf(parsed, 'outbox_console_up', { outbox: 'gone' })).toBe(0);
    expect([...families].filter((family) => /depth|waiting|age|type_|timestamp/.test(family))).toEqual([]);
    expect(valueOf(parsed, 'outbox_console_verdict', { outbox: 'gone', verdict: 'source_down' })).toBe(1);
    expect(valueOf(parsed, 'outbox_console_published_total', { outbox: 'gone' })).toBe(10);
    expect(valueOf(parsed, 'outbox_console_waiting_events', { outbox: 'here' })).toBe(5);
  });

  it('tells how its collector is doing and what it has cost', async () => {
    const parsed = await exposed([
      { current: currentOf('a') },
      { current: currentOf('b'), collector: { ...collecting, state: 'blind', foldedTo: null, backfill: null } },
    ]);
    const value = (name: string, outbox = 'a') => valueOf(parsed, `outbox_console_collector_${name}`, { outbox });
    expect([value('up'), value('up', 'b')]).toEqual([1, 0]);
    expect(Math.abs((value('lag_seconds') ?? 0) - 30)).toBeLessThan(10);
    expect(value('lag_seconds', 'b')).toBeUndefined();
    expect([value('backfill_ratio'), value('backfill_ratio', 'b')]).toEqual([0.25, 1]);
    expect([value('queries_total'), value('rows_total'), value('seconds_total')]).toEqual([7, 900, 1.5]);
  });

  it('tells latencies as a histogram: cumulative buckets, sum and count', async () => {
    const counts = LATENCY_LE_SECONDS.map((_, at) => (at < 3 ? at + 1 : 0));
    const parsed = await exposed([
      { current: currentOf('a'), totals: totalsOf({ latency: { counts: [...counts, 5], sumSeconds: 1.25 } }) },
    ]);
    const bucket = (le: string) => valueOf(parsed, 'outbox_console_publish_latency_seconds_bucket', { outbox: 'a', le });
    expect([bucket('0.001'), bucket('0.002'), bucket('0.004'), bucket('16777.216'), bucket('+Inf')]).toEqual([1, 3, 6, 6, 11]);
    expect(valueOf(parsed, 'outbox_console_publish_latency_seconds_sum', { outbox: 'a' })).toBe(1.25);
    expect(valueOf(parsed, 'outbox_console_publish_latency_seconds_count', { outbox: 'a' })).toBe(11);
  });
});

describe('totals', () => {
  const of = async (current: Current, totals: OutboxTotals | null, collector = collecting) =>
    new Set((await exposed([{ current, totals, collector }])).series.map((one) => one.family));

  it('are absent, not zero, while nothing has been collected', async () => {
    const families = await of(currentOf('a', { summary: summaryOf({ depth: depthOf(1, 1) }) }), null);
    expect([...families].filter((family) => /created|published_total|retries|errors|latency/.test(family))).toEqual([]);
  });

  it('are absent where publishing has to be observed and nothing has been seen yet', async () => {
    const observed: CollectorStatus = { ...collecting, method: 'observed' };
    const told = async (published: number, collector?: CollectorStatus) =>
      (await of(currentOf('a'), totalsOf({ published }), collector)).has('outbox_console_published_total');
    expect([await told(0, observed), await told(1, observed), await told(0)]).toEqual([false, true, true]);
  });

  it('leave out attempts where the table counts none, and latencies where it does not tell them', async () => {
    const totals = totalsOf({ latency: null, types: new Map([['t', { retries: 0, errors: 0 }]]) });
    const families = await of(currentOf('a', { summary: summaryOf({ retries: unavailable('no_attempts') }) }), totals);
    expect(families.has('outbox_console_published_total')).toBe(true);
    expect([...families].filter((family) => /retries|errors|latency/.test(family))).toEqual([]);
  });
});

describe('the total of created events', () => {
  const seen = (waiting: number, processing = 0, dead = 0): Summary['depth'] => ({
    ...depthOf(0, dead),
    processing: exact(processing),
    waiting: exact(waiting),
  });

  it('begins at nothing and follows what comes into the table, whether or not it has been folded', () => {
    const created = createCreatedTotals();
    expect(created('a', 1_000, seen(20))).toBe(0);
    expect(created('a', 1_000, seen(25, 2, 1))).toBe(8);
    expect(created('a', 1_010, seen(15, 2, 1))).toBe(8);
    expect(created('a', 1_028, seen(0))).toBe(8);
    expect(created('b', 5, seen(1))).toBe(0);
  });

  it('never falls: not while events are on their way to the books, nor when dead ones are archived', () => {
    const created = createCreatedTotals();
    const values = [created('a', 0, seen(100)), created('a', 0, seen(150)), created('a', 0, seen(10)), created('a', 140, seen(20))];
    expect(values).toEqual([0, 50, 50, 60]);
  });

  it('is not told where a depth stopped counting; a state the table cannot show holds nothing', () => {
    const created = createCreatedTotals();
    expect(created('a', 5, { ...seen(1), waiting: { count: 10_000, known: 'capped' } })).toBeNull();
    expect(created('a', 5, { ...seen(1), dead: unavailable('not_in_schema') })).toBe(0);
    expect(created('a', 6, { ...seen(1), dead: unavailable('not_in_schema') })).toBe(1);
    expect(created('a', 6, { ...seen(1), dead: unavailable('source_down') })).toBeNull();
  });
});

describe('event types', () => {
  const DEAD = 'outbox_console_type_dead_events';
  const deadByType = (types: [string, number][], dead: number): Current =>
    currentOf('a', {
      summary: summaryOf({ depth: depthOf(0, dead), byType: types.map(([type, count]) => typeFigures(type, 0, count)) }),
    });
  const labelled = (parsed: Parsed): Record<string, number> =>
    Object.fromEntries(parsed.series.filter((one) => one.name === DEAD).map((one) => [one.labels.type ?? '', one.value]));

  it.each([
    'quote " and \\ backslash',
    'line\nbreak',
    'back\\nslash n',
    'ends with \\',
    'comma,equals="x"}',
    '주문 완료 ✅',
    'tab\tand\rreturn',
    '__proto__',
    'constructor',
    '{}',
    '# HELP x y',
    '  spaces  ',
  ])('come back as they are: %j', async (type) => {
    expect(labelled(await exposed([{ current: deadByType([[type, 3]], 3) }]))).toEqual({ [type]: 3, [OTHER]: 0 });
  });

  it('that are empty, broken or called other do no harm', async () => {
    const parsed = await exposed([
      {
        current: deadByType(
          [
            ['', 1],
            [OTHER, 2],
            ['half \ud83d', 3],
            ['half \udc00', 4],
            ['x'.repeat(300), 5],
          ],
          15,
        ),
      },
    ]);
    expect(labelled(parsed)).toEqual({ 'half \ufffd': 7, ['x'.repeat(200)]: 5, [OTHER]: 3 });
  });

  it('number 50 and other at most, however many there are, and lose no event', async () => {
    const types = Array.from({ length: 10_000 }, (_, at): [string, number] => [`type-${String(at)}`, 1]);
    const totals = totalsOf({ types: new Map([[OTHER, { retries: 9_999, errors: 0 }]]) });
    const parsed = await exposed([{ current: deadByType(types, 12_000), totals }]);
    const values = labelled(parsed);
    expect(Object.keys(values)).toHaveLength(TYPES_MAX + 1);
    expect(Object.values(values).reduce((sum, value) => sum + value, 0)).toBe(12_000);
    expect(parsed.series.length).toBeLessThan(250);
  });

  it('keep their label from one scrape to the next, whoever is busiest', async () => {
    const labels = createTypeLabels();
    const first = Array.from({ length: TYPES_MAX }, (_, at): [string, number] => [`old-${String(at)}`, 1]);
    await exposed([{ current: deadByType(first, TYPES_MAX) }], labels);
    const parsed = await exposed([{ current: deadByType([['new', 1_000], ...first], 1_000 + TYPES_MAX) }], labels);
    expect(labelled(parsed)).toMatchObject({ 'old-49': 1, [OTHER]: 1_000 });
    expect(labelled(parsed)).not.toHaveProperty('new');
  });

  it('of one outbox take no label from another', async () => {
    const labels = createTypeLabels();
    for (let at = 0; at < TYPES_MAX; at += 1) labels.labelOf('a', `t${String(at)}`);
    expect([labels.labelOf('a', 'late'), labels.labelOf('b', 'late')]).toEqual([OTHER, 'late']);
  });
});

it('two hundred outboxes with fifty types each take less than two seconds of the processor', async () => {
  const byType = Array.from({ length: TYPES_MAX }, (_, at) => typeFigures(`type-${String(at)}`, 1, 1));
  const types = new Map(byType.map(({ type }) => [type, { retries: 1, errors: 1 }]));
  const outboxes = Array.from({ length: 200 }, (_, at) => ({
    current: currentOf(`outbox-${String(at)}`, { summary: summaryOf({ depth: depthOf(49, 50), byType }) }),
    totals: totalsOf({ types }),
  }));
  const told = tell(outboxes, { labels: createTypeLabels(), created: createCreatedTotals() });
  const samples = { values: told.flatMap((one) => one.values), latencies: told.flatMap((one) => one.latencies) };
  // The processor's time: what else the machine does is not in it.
  const begun = process.cpuUsage();
  const text = await render(samples);
  const { user, system } = process.cpuUsage(begun);
  expect((user + system) / 1_000).toBeLessThan(2_000);
  const { series } = parseExposition(text);
  expect(series.filter((one) => one.name === 'outbox_console_up')).toHaveLength(200);
  expect(series.length / 200).toBeLessThan(300);
});
