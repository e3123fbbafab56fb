import net from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { createSnapshots, type Snapshots } from './snapshots';
import { countedDirectory, sampleTables, shapeCalled, testOutbox, type CountedDirectory } from '@/fixtures/outboxes';

const database = useTestDatabase();
const OUTBOXES = [
  testOutbox(shapeCalled('escrow-status'), 'first'),
  testOutbox(shapeCalled('published-at'), 'second'),
  testOutbox(shapeCalled('courier-status'), 'third'),
];

let directory: CountedDirectory;
let snapshots: Snapshots;
let clock: number;
let failures: [string, unknown][];
/** What happens before a reading of an outbox. */
let before: (outbox: string) => Promise<void>;

const create = (url = database.url): void => {
  directory = countedDirectory(url, OUTBOXES, (outbox) => before(outbox));
  snapshots = createSnapshots(directory, { now: () => clock, onFailure: (outbox, error) => failures.push([outbox, error]) });
};
const addPending = (count: number): Promise<unknown> =>
  database.query(
    `insert into first.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, payload) select gen_random_uuid(), 'k', 't', 'r', '{}' from generate_series(1, ${String(count)})`,
  );

beforeAll(async () => {
  for (const { shape, id } of OUTBOXES) await database.query(sampleTables(shape, id).join(';\n'));
});
beforeEach(async () => {
  await database.query('truncate first.transaction_outbox, second.outbox_events, second.outbox_dead, third.outbox');
  clock = Math.floor(Date.now() / 5_000) * 5_000;
  failures = [];
  before = () => Promise.resolve();
  create();
});
afterEach(() => directory.close());

describe('one reading for all viewers', () => {
  test('fifty and more at once cost one statement, whatever they ask of whatever window', async () => {
    const asks = [
      () => snapshots.summary('first', '15m'),
      () => snapshots.series('first', { window: '30d' }, 'paid'),
      () => snapshots.outbox('first', '1h'),
    ];
    const answers = await Promise.all(Array.from({ length: 17 }, () => asks.map((ask) => ask())).flat());
    expect(directory.readings()).toBe(1);
    expect(new Set(answers.map((answer) => answer.asOf)).size).toBe(1);
  });

  test('the fleet takes one statement per outbox, and an outbox page none more', async () => {
    await Promise.all(Array.from({ length: 20 }, () => snapshots.fleet()));
    await snapshots.outbox('second', '7d');
    expect(directory.readings()).toBe(3);
  });

  test('screens share one in five seconds, whenever they ask: two hundred of them take as many as one', async () => {
    clock += 1_200;
    const first = await snapshots.outbox('first', '1h');
    await addPending(3);
    clock += 3_799;
    expect(await snapshots.outbox('first', '1h')).toEqual(first);
    clock += 1;
    const second = await snapshots.outbox('first', '1h');
    expect(second.summary.depth.pending).toEqual({ count: 3, known: 'exact' });
    expect(Math.abs(Date.now() - Date.parse(second.asOf))).toBeLessThan(5_000);
    expect(directory.readings()).toBe(2);
  });

  test('a script gets a reading begun after it asked, never one that was under way', async () => {
    const early = snapshots.summary('first', '1h');
    clock += 1;
    await addPending(2);
    expect((await snapshots.summary('first', '1h')).depth.pending).toEqual({ count: 2, known: 'exact' });
    await early;
    expect(directory.readings()).toBe(2);
  });

  test('scripts share what is asked at once', async () => {
    await Promise.all([snapshots.summary('first', '1h'), snapshots.series('first', { window: '1h' })]);
    expect(directory.readings()).toBe(1);
    clock += 1;
    await snapshots.series('first', { window: '1h' });
    expect(directory.readings()).toBe(2);
  });

  test('nobody asks, nothing is read', async () => {
    await snapshots.summary('first', '1h');
    clock += 60_000;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(directory.readings()).toBe(1);
  });

  test('an unknown id is not found', async () => {
    for (const ask of [snapshots.summary('nobody', '1h'), snapshots.series('nobody', { window: '1h' }), snapshots.outbox('nobody', '1h')]) {
      await expect(ask).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});

describe('the fleet', () => {
  test('worst first, then by what waits', async () => {
    await addPending(2);
    await database.query(
      `insert into third.outbox (id, event_type, payload, created_at) select gen_random_uuid(), 't', '{}', now() at time zone 'UTC' - interval '10 min' from generate_series(1, 5)`,
    );
    const fleet = await snapshots.fleet();
    expect(fleet.entries.map((entry) => [entry.outbox.id, entry.summary.diagnosis.verdict])).toEqual([
      ['third', 'relay_stopped'],
      ['first', 'healthy'],
      ['second', 'healthy'],
    ]);
    for (const entry of fleet.entries) {
      expect(entry.sparkline).toHaveLength(30);
      expect(entry.sparkline.at(-1)).toBe(entry.summary.depth.waiting.count);
      expect(entry.summary.window).toBe('1h');
    }
  });

  test('says how often its outboxes are read: half as often where there are many on one server', async () => {
    expect((await snapshots.fleet()).everyMs).toBe(5_000);
    const many = countedDirectory(
      database.url,
      Array.from({ length: 51 }, (_, index) => testOutbox(shapeCalled('escrow-status'), index === 0 ? 'first' : `other${String(index)}`)),
      () => Promise.resolve(),
    );
    expect((await createSnapshots(many, { now: () => clock }).fleet()).everyMs).toBe(10_000);
    await many.close();
  });

  test('many on one server are read evenly one after the other, not all at once', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `many${String(index)}`);
    const many = countedDirectory(
      database.url,
      ids.map((id) => testOutbox(shapeCalled('escrow-status'), 'first', { id })),
    );
    const { fleet } = createSnapshots(many, { now: () => clock });
    clock = Math.floor(clock / 10_000) * 10_000;
    for (let second = 0; second <= 10; second += 1) {
      // Asked again: one that is still being read is not begun anew by the first who asks.
      await vi.waitFor(async () => {
        await fleet();
        expect(many.readings()).toBe(60 + 6 * second);
      }, PATIENCE_MS);
      clock += 1_000;
    }
    await many.close();
  });

  test('a line is made when its reading comes, whoever asks or does not, and not again before the next', async () => {
    const made: string[] = [];
    const fleet = createSnapshots(directory, { now: () => clock, collector: { status: (id) => (made.push(id), null) } }).fleet;
    await fleet();
    expect(made.splice(0).toSorted()).toEqual(['first', 'second', 'third']);
    await addPending(2);
    let release = (): void => undefined;
    before = (outbox) => (outbox === 'first' ? new Promise((resolve) => (release = resolve)) : Promise.resolve());
    clock += 5_000;
    await fleet();
    // What is shown of the first one is the line that there was.
    await vi.waitFor(() => expect(made.toSorted()).toEqual(['second', 'third']), PATIENCE_MS);
    release();
    await vi.waitFor(() => expect(made.slice(2)).toEqual(['first']), PATIENCE_MS);
    expect((await fleet()).entries.find(({ outbox }) => outbox.id === 'first')?.summary.depth.pending.count).toBe(2);
    expect(made).toHaveLength(3);
  });

  test('one outbox that hangs is answered from its last reading; the others do not wait for it', async () => {
    await addPending(2);
    await snapshots.fleet();
    let release = (): void => undefined;
    before = (outbox) => (outbox === 'first' ? new Promise((resolve) => (release = resolve)) : Promise.resolve());
    clock += 5_000;
    const begun = performance.now();
    const [asked] = (await snapshots.fleet()).entries.filter((entry) => entry.outbox.id === 'first');
    expect(asked).toMatchObject({ stale: null, summary: { depth: { pending: { count: 2 } } } });
    clock += 2_500;
    const { entries } = await snapshots.fleet();
    // A reading that is waited for may take two and a half seconds.
    expect(performance.now() - begun).toBeLessThan(2_300);
    const hanging = entries.find((entry) => entry.outbox.id === 'first');
    expect(hanging).toMatchObject({
      stale: { problem: 'timeout', since: hanging?.summary.asOf },
      summary: { depth: { pending: { count: 2 } }, diagnosis: { verdict: 'healthy' } },
    });
    expect(entries.filter((entry) => entry.stale === null)).toHaveLength(2);

    // Late for longer, its last verdict stands no more.
    clock += 15_000;
    const later = (await snapshots.fleet()).entries[0];
    expect(later).toMatchObject({
      outbox: { id: 'first' },
      summary: { diagnosis: { verdict: 'source_down', evidence: [{ code: 'source_timeout' }, { code: 'last_seen' }] } },
    });
    before = () => Promise.resolve();
    release();
    await expect.poll(async () => (await snapshots.fleet()).entries.find((entry) => entry.outbox.id === 'first')?.stale).toBeNull();
  });
});

describe('a source that is away', () => {
  /** A port of this machine on which nobody listens. */
  async function deadUrl(): Promise<string> {
    const server = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as net.AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const url = new URL(database.url);
    url.host = `127.0.0.1:${String(port)}`;
    return url.href;
  }

  test('never reached: every figure is unavailable because of it, and nothing is thrown', async () => {
    await directory.close();
    create(await deadUrl());
    const { entries } = await snapshots.fleet();
    expect(entries).toHaveLength(3);
    for (const { outbox, summary, stale, sparkline } of entries) {
      expect(outbox).toMatchObject({ writable: false, whyReadOnly: 'source_down' });
      expect(summary.diagnosis).toMatchObject({
        verdict: 'source_down',
        evidence: [{ code: 'source_unreachable' }, { code: 'never_seen' }],
      });
      for (const figure of [
        ...Object.values(summary.depth),
        summary.retries,
        summary.latency,
        summary.processing,
        summary.throughput,
        summary.errorRate,
      ]) {
        expect(figure).toMatchObject({ known: 'unavailable', why: 'source_down' });
      }
      expect(stale?.problem).toBe('unavailable');
      expect(sparkline).toEqual(Array.from({ length: 30 }, () => null));
    }
    const series = await snapshots.series('first', { window: '24h' });
    expect(series.points).toHaveLength(96);
    expect(series.points.every((point) => point.waiting === null && point.created === null)).toBe(true);
    expect(failures.map(([outbox]) => outbox).sort()).toEqual(['first', 'second', 'third']);
  });

  test('reached before: the screen keeps its last figures and says since when, the API tells what it knows', async () => {
    await addPending(4);
    const good = await snapshots.outbox('first', '1h');
    before = () =>
      Promise.reject(Object.assign(new Error('connection refused'), { name: 'DatabaseFailure', code: 'connection', state: null }));
    clock += 5_000;
    const since = new Date(clock).toISOString();
    const screen = await snapshots.outbox('first', '1h');
    expect(screen.summary).toEqual({
      ...good.summary,
      diagnosis: {
        verdict: 'source_down',
        since,
        evidence: [
          { code: 'source_unreachable', values: { sinceAt: since } },
          { code: 'last_seen', values: { lastSeenAt: good.asOf } },
        ],
        holds: [{ verdict: 'source_down', since }],
      },
    });
    expect(screen).toMatchObject({ asOf: good.asOf, series: good.series, stale: { since: good.asOf, problem: 'unavailable' } });
    const api = await snapshots.summary('first', '1h');
    expect(api.depth.pending).toEqual({ count: null, known: 'unavailable', why: 'source_down' });
    expect(api).toMatchObject({ asOf: since, diagnosis: { verdict: 'source_down', since } });

    // Still away later: since the first failure, told once.
    clock += 10_000;
    expect((await snapshots.summary('first', '1h')).diagnosis.since).toBe(since);
    expect(failures).toHaveLength(1);

    before = () => Promise.resolve();
    clock += 5_000;
    expect(await snapshots.outbox('first', '1h')).toMatchObject({
      stale: null,
      summary: { depth: { pending: { count: 4 } }, diagnosis: { verdict: 'healthy' } },
    });
  });

  test('its table is gone: the database answers, and that is what is said', async () => {
    await database.query('alter table first.transaction_outbox rename to gone');
    try {
      const summary = await snapshots.summary('first', '1h');
      expect(summary.diagnosis).toMatchObject({ verdict: 'cannot_see', evidence: [{ code: 'table_missing' }, {}] });
      for (const figure of [...Object.values(summary.depth), summary.latency, summary.throughput])
        expect(figure).toMatchObject({ known: 'unavailable', why: 'table_missing' });
      expect((await snapshots.fleet()).entries[0]).toMatchObject({
        outbox: { id: 'first', whyReadOnly: 'table_missing' },
        stale: { problem: 'unreadable' },
      });
    } finally {
      await database.query('alter table first.gone rename to transaction_outbox');
    }
  });

  test('its table is no longer what the mapping says, though what figures need is there: that is what is said', async () => {
    await snapshots.summary('first', '1h');
    await database.query('alter table first.transaction_outbox rename column payload to content');
    try {
      // As it is looked at again every two minutes.
      directory.forget('first');
      await expect(directory.get('first')).rejects.toMatchObject({ code: 'invalid' });
      clock += 5_000;
      const { depth, diagnosis } = await snapshots.summary('first', '1h');
      expect(diagnosis).toMatchObject({ verdict: 'cannot_see', evidence: [{ code: 'source_unusable' }, {}] });
      expect(depth.dead).toEqual({ count: null, known: 'unavailable', why: 'source_unusable' });
    } finally {
      await database.query('alter table first.transaction_outbox rename column content to payload');
    }
    clock += 5_000;
    expect((await snapshots.summary('first', '1h')).diagnosis.verdict).toBe('healthy');
  });

  test('its role lost the right to read: that is what is said of the figures, and of an outbox that was never read', async () => {
    await database.query(
      `create role shut login password 'test'; grant usage on schema first to shut; grant select on first.transaction_outbox to shut`,
    );
    try {
      await directory.close();
      create(database.urlFor('shut', 'test'));
      await snapshots.summary('first', '1h');
      await database.query('revoke select on first.transaction_outbox from shut');
      clock += 5_000;
      for (const begin of [() => undefined, () => create(database.urlFor('shut', 'test'))]) {
        begin();
        const { depth, diagnosis } = await snapshots.summary('first', '1h');
        expect(diagnosis).toMatchObject({ verdict: 'cannot_see', evidence: [{ code: 'no_privilege' }, {}] });
        expect(depth.dead).toEqual({ count: null, known: 'unavailable', why: 'no_privilege' });
      }
    } finally {
      await database.query('drop owned by shut; drop role shut');
    }
  });
});

test('a store that does not answer is told once, and figures of now go on', async () => {
  await addPending(3);
  const lost = () => Promise.reject(new Error('the store is away'));
  const history = { head: lost, rollups: lost, seriesEver: lost };
  const alone = createSnapshots(directory, { history, now: () => clock, onFailure: (outbox, error) => failures.push([outbox, error]) });
  for (let round = 0; round < 3; round += 1) {
    const { depth, latency } = await alone.summary('first', '1h');
    expect(depth.pending).toEqual({ count: 3, known: 'exact' });
    expect(latency).toMatchObject({ known: 'unavailable', why: 'not_watched' });
    clock += 5_000;
  }
  expect(failures).toEqual([['first', new Error('the store is away')]]);
});

test('a stuck event is told although others die', async () => {
  await database.query(
    `insert into first.transaction_outbox
       (id, idempotency_key, transaction_type, transaction_ref_id, payload, status, retry_count, create_time, last_attempt_time)
     select gen_random_uuid(), 'k', 't', 'r', '{}', status, 5, now() - interval '1 hour', now() - minutes * interval '1 min'
     from (values ('failed', 1), ('failed', 2), ('processing', 20)) as row (status, minutes)`,
  );
  const { verdict, holds } = (await snapshots.summary('first', '1h')).diagnosis;
  expect([verdict, holds.map((one) => one.verdict)]).toEqual(['dead_growing', ['dead_growing', 'stuck_processing']]);
  const [current] = await snapshots.current();
  expect(current?.summary.diagnosis.holds).toEqual(holds);
});

test('a poison row on a table without a time of publishing: told from its readings', async () => {
  const insert = (status: string, secondsAgo: number, count: number): Promise<unknown> =>
    database.query(
      `insert into third.outbox (id, event_type, payload, status, created_at)
        select gen_random_uuid(), 't', '{}', $1, now() at time zone 'UTC' - $2 * interval '1 s' from generate_series(1, $3)`,
      [status, secondsAgo, count],
    );
  const verdict = async (): Promise<unknown> => (await snapshots.summary('third', '1h')).diagnosis;
  await insert('PROCESSED', 600, 300);
  await insert('PENDING', 50, 1);
  expect(await verdict()).toMatchObject({ verdict: 'healthy' });
  // Something goes out, and something older waits all the same: it has been overtaken, nothing has stopped.
  await insert('PROCESSED', 40, 1);
  await database.query(`update third.outbox set created_at = created_at - interval '6 min'`);
  clock += 5_000;
  expect(await verdict()).toMatchObject({ verdict: 'healthy' });
  // Then nothing moves from one reading to the next while another one waits.
  await insert('PENDING', 390, 1);
  create();
  expect(await verdict()).toMatchObject({
    verdict: 'relay_stopped',
    evidence: [
      { code: 'nothing_moved' },
      { code: 'events_due', values: { count: 1 } },
      { code: 'rhythm_unknown', values: { patienceMs: 300_000 } },
    ],
  });
});
