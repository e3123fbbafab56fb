/** Who died, of more dead rows than are read, and of those that operators had put back: on both engines. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { mapping } from '@/fixtures/mapping';
import { progressOf, useCompute } from '@/fixtures/outboxes';
import { diagnose } from '@/lib/diagnosis/judge/diagnose';
import { metricInput, spanOf } from '@/lib/figures/span';
import { summarise } from '@/lib/figures/summarise';
import { intervene } from '@/lib/interventions/intervene';
import { ALL_TYPES, emptyCell } from '@/lib/rollup/cell';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { takeReading } from '@/lib/snapshots/readings';
import { openProven, useTestDatabaseOf, type ProvenOutbox } from '@/scripts/testing/outbox';
import type { Past, Reading } from './reading';

const COLUMNS = { id: 'id', type: 'kind', payload: 'body', createdAt: 'made_at', publishedAt: 'sent_at' };
const JOBS = mapping({
  engines: ['postgres', 'mysql'],
  table: 'jobs',
  columns: { ...COLUMNS, diedAt: 'died_at', attempts: 'tries', attemptedAt: 'claimed_at' },
  states: [
    { state: 'published', when: { column: 'status', equals: 'SENT' } },
    { state: 'dead', when: { column: 'status', equals: 'FAILED' } },
    { state: 'processing', when: { column: 'status', equals: 'BUSY' } },
    {
      state: 'retrying',
      when: {
        all: [
          { column: 'status', equals: 'NEW' },
          { column: 'tries', above: 0 },
        ],
      },
    },
    { state: 'pending', when: { column: 'status', equals: 'NEW' } },
  ],
  operations: {
    retry: [
      { from: ['dead'], version: 'exact', set: { status: { value: 'NEW' } } },
      { from: ['retrying'], version: 'exact', set: { tries: { value: 2 } } },
    ],
    release: [{ from: ['processing'], version: 'exact', olderThanStuckAfter: 'claimed_at', set: { status: { value: 'NEW' } } }],
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
});
const WITH_LETTERS = mapping({
  engines: ['postgres', 'mysql'],
  table: 'jobs',
  columns: COLUMNS,
  dead: {
    table: 'jobs_dead',
    columns: { id: 'id', type: 'kind', payload: 'body', createdAt: 'made_at', diedAt: 'died_at', error: 'err' },
  },
  states: [
    { state: 'published', when: { column: 'sent_at', isNull: false } },
    { state: 'pending', when: { always: true } },
  ],
});

const IN_TWO_TABLES = { ...WITH_LETTERS, columns: JOBS.columns, states: JOBS.states };

const compute = useCompute();
const read = ({ outbox }: ProvenOutbox, acted = true): Promise<Reading> =>
  takeReading(outbox, new Date(Date.now() - 600_000).toISOString(), compute, acted);
const LOOKS = [880, 500, 200, 60, 20, 5];
/** The same reading at several times before another. */
const looks = (past: Past, { asOf }: Past, seconds = LOOKS): Past[] =>
  seconds.map((ago) => ({ ...past, asOf: new Date(Date.parse(asOf) - ago * 1_000).toISOString() }));
const verdictOf = (reading: Reading, previous: Past[], laterMs = 0) => {
  const figures = summarise(metricInput(reading, spanOf({ window: '1h' }, reading.asOf)), '1h');
  return diagnose({ reading, previous, figures, failure: null, history: null, now: Date.parse(reading.asOf) + laterMs });
};
const holds = (...of: Parameters<typeof verdictOf>) => verdictOf(...of).holds.map(({ verdict }) => verdict);
const factOf = (code: string, ...of: Parameters<typeof verdictOf>) => verdictOf(...of).evidence.find((one) => one.code === code)?.values;
/** What was created in a window that the collector watched without a gap. */
function createdIn(reading: Reading, window: '1h' | '15m') {
  const [nowMs, minute] = [Date.parse(reading.asOf), Math.floor(Date.parse(reading.asOf) / 60_000)];
  const slices = times(62, (index) => {
    return { series: ALL_TYPES, atMinute: minute - 61 + index, width: 1, provisional: false, cell: { ...emptyCell(), minutes: 1 } };
  });
  const progress = progressOf(new Date(nowMs - 11_000).toISOString());
  const head = { progress, fromMinute: minute - 70, slices, acted: null };
  const { throughput } = summarise(metricInput(reading, spanOf({ window }, reading.asOf), head), window);
  return { known: throughput.known, created: Math.round((throughput.createdPerMinute ?? 0) * 60) };
}
const times = <T>(count: number, each: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => each(index));
const named = (index: number, of = 'a'): string => `${of}-${String(index).padStart(4, '0')}`;
/** The records outlive a test: each has events of its own. */
const others = (of: string) => (index: number) => named(index, of);

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const isPostgres = engine === 'postgres';
  const instant = isPostgres ? 'timestamptz' : 'datetime(6)';
  const ago = (seconds: number) => (isPostgres ? `now() - interval '${seconds} s'` : `utc_timestamp(6) - interval ${seconds} second`);
  const table = (time: string) => `CREATE TABLE jobs (id varchar(80) PRIMARY KEY, kind varchar(20) NOT NULL, body varchar(200) NOT NULL,
    made_at ${time} NOT NULL, sent_at ${time}, died_at ${time}, claimed_at ${time}, status varchar(10) NOT NULL, tries int NOT NULL)`;

  describe.each([
    ['by its state alone', instant, 'status'],
    ['by state and creation', instant, 'status, made_at'],
    ['with whole seconds', isPostgres ? 'timestamptz(0)' : 'datetime', 'status'],
  ])('a table read %s', (_, time, indexed) => {
    const database = useTestDatabaseOf(engine, async ({ query }) => {
      await query(table(time));
      await query(`CREATE INDEX jobs_status ON jobs (${indexed})`);
      await query('CREATE INDEX jobs_sent ON jobs (sent_at)');
    });
    let open: ProvenOutbox;
    beforeAll(async () => {
      open = await openProven(database, JOBS, { inline: true });
    });
    afterAll(() => open.close());
    beforeEach(async () => {
      await database.query('DELETE FROM jobs');
    });
    const insert = (rows: readonly string[]) => database.query(`INSERT INTO jobs VALUES ${rows.join(', ')}`);
    const dead = (id: string, made: number, died: number, kind = 'k') =>
      `('${id}', '${kind}', '{}', ${ago(made)}, null, ${ago(died)}, null, 'FAILED', 5)`;
    const sent = (seconds: number) => `('s', 'k', '{}', ${ago(seconds + 100)}, ${ago(seconds)}, null, null, 'SENT', 1)`;
    const act = async (operation: string, ids: readonly string[]) => {
      for (let from = 0; from < ids.length; from += 200) {
        const events = [];
        for (const id of ids.slice(from, from + 200)) events.push({ id, version: (await getEvent(open.outbox, id))?.event.version ?? '' });
        const done = await intervene(
          depsFor(open.outbox, open.known),
          ANNA,
          'sample',
          { operation, events, reason: 'looked at' },
          freshKey(),
        );
        expect(done.outcome).toBe('applied');
      }
    };
    const die = (where = '') =>
      database.query(`UPDATE jobs SET status = 'FAILED', died_at = ${ago(0)}, claimed_at = ${ago(0)} WHERE status = 'NEW'${where}`);

    test('deaths whose time the relay clears are counted', async () => {
      const cleared = (index: number) => dead(named(index, 'cleared'), 500, 400, 'paid').replace(ago(400), 'null');
      await insert([...times(3, cleared), sent(10)]);
      const earlier = await read(open);
      expect(holds(earlier, [])).toEqual(['healthy']);
      await insert(times(2, (index) => cleared(index + 3)));
      const now = await read(open);
      expect(holds(now, looks(earlier, now))).toEqual(['dead_growing']);
      expect(factOf('newly_dead', now, looks(earlier, now))).toMatchObject({ count: 2 });
      expect(factOf('dead_cause', now, looks(earlier, now))).toMatchObject({ type: 'paid', count: 5, of: 5 });
    });

    test('old deaths without a time neither name the cause of new ones, nor make others count', async () => {
      const old = (index: number) => dead(named(index, 'old'), 90_000, 400, 'old').replace(ago(400), 'null');
      await insert([...times(5, old), sent(10)]);
      const earlier = await read(open);
      await insert(times(2, (index) => dead(named(index, 'late'), 90_000, 80_000)));
      const told = await read(open);
      expect(holds(told, looks(earlier, told))).toEqual(['healthy']);
      await insert(times(2, (index) => dead(named(index, 'new'), 100, 5, 'new')));
      const now = await read(open);
      expect(holds(now, looks(earlier, now))).toEqual(['dead_growing']);
      expect(factOf('dead_cause', now, looks(earlier, now))).toMatchObject({ type: 'new', count: 2, of: 2 });
    });

    test('deaths of now behind hundreds of old ones are seen, and those sent again are not taken for them', async () => {
      await insert([...times(600, (index) => dead(named(index), 90_000, 86_400)), sent(10)]);
      const earlier = await read(open);
      await insert(times(100, (index) => dead(`z-${index}`, 95_000 + index, 1 + index * 2)));
      const now = await read(open);
      expect(holds(now, looks(earlier, now))).toEqual(['dead_growing']);
      expect(holds(now, looks(now, now))).not.toContain('dead_growing');
      if (time !== instant) return;

      await database.query("DELETE FROM jobs WHERE id LIKE 'z%'");
      const quiet = await read(open);
      await act(
        'retry',
        times(500, (index) => named(index)),
      );
      const waits = await read(open);
      await die(" AND id < 'a-0450'");
      const again = await read(open);
      expect(again.figures.depth?.dead).toBe(550);
      const previous = [...looks(quiet, again, [60]), ...looks(waits, again, [20, 10])];
      expect(holds(again, previous)).not.toContain('dead_growing');
      expect(factOf('died_again', again, previous)?.atLeast).toBe('yes');
      await insert(times(9, (index) => dead(`y-${index}`, 96_000 + index, 1)));
      const more = await read(open);
      expect(factOf('newly_dead', more, [...previous, ...looks(again, more, [5])])?.count).toBe(9);
    });

    test('who dies for the first time after a release or a retry has not died again', async () => {
      await insert(
        times(20, (index) => `('${others('b')(index)}', 'k${index % 2}', '{}', ${ago(4_000)}, null, null, ${ago(3_000)}, 'BUSY', 1)`),
      );
      await insert([`('r-b', 'k', '{}', ${ago(4_000)}, null, null, ${ago(300)}, 'NEW', 3)`, sent(4_900)]);
      const before = await read(open);
      await act('release', times(20, others('b')));
      await act('retry', ['r-b']);
      await die();
      const after = await read(open);
      expect(holds(after, looks(before, after, [20]))).toContain('dead_growing');
      expect(factOf('newly_dead', after, looks(before, after, [20]))).toMatchObject({ count: 21, atLeast: 'no' });
      expect(factOf('died_again', after, [])).toBeUndefined();
    });

    test('what was sent again and died again is no fault of the broker, at whatever second it died', async () => {
      await insert([...times(10, (index) => dead(others('c')(index), 90_000, 86_400, `k${index % 2}`)), sent(900)]);
      await act('retry', times(10, others('c')));
      await die();
      const after = await read(open);
      expect(holds(after, looks(after, after, [10, 5]), 15_000)).toEqual(['healthy']);
      expect(factOf('died_again', after, [])).toEqual({ count: 10, atLeast: 'no' });
      await insert(times(10, (index) => dead(`n-${index}`, 60, 0, `k${index % 2}`)));
      const refused = await read(open);
      expect(holds(refused, looks(after, refused, [10, 5]), 15_000)).toContain('broker_refusing');
      expect(factOf('all_failed', refused, [], 15_000)?.count).toBe(10);
    });

    test('what is not read, or archived, may have been created in the window: then the rate is no exact one', async () => {
      const created = async (window: '1h' | '15m' = '1h') => createdIn(await read(open), window);
      await insert(times(1_000, (index) => dead(others('d')(index), 60 + index * 3, 50 + index * 3)));
      expect((await created()).known).toBe('estimated');
      // The newest four hundred reach back twenty minutes, if they were read by their creation.
      expect((await created('15m')).known).toBe(indexed === 'status' ? 'estimated' : 'exact');
      await database.query(`DELETE FROM jobs WHERE id >= '${others('d')(100)}'`);
      const all = await created();
      expect(all.known).toBe('exact');
      await act('archive', times(60, others('d')));
      const fewer = await created();
      expect(fewer.known).toBe('estimated');
      expect(fewer.created).toBeLessThan(all.created);
    });

    // Not on MySQL: its rows carry no transaction's number.
    if (isPostgres)
      test('a claim of the same second is the relay’s, however coarse its time', async () => {
        await insert([`('r-d', 'k', '{}', ${ago(4_000)}, null, null, ${ago(300)}, 'NEW', 3)`, sent(4_900)]);
        await act('retry', ['r-d']);
        expect((await read(open)).figures.relay_stopped?.touch ?? 0).toBe(0);
        await database.query("UPDATE jobs SET claimed_at = date_trunc('second', clock_timestamp()), tries = 3 WHERE id = 'r-d'");
        if (time !== instant) expect((await read(open)).figures.relay_stopped?.touch).toBeGreaterThan(0);
      });
  });

  describe('a dead-letter table without an index on the time of death', () => {
    const database = useTestDatabaseOf(engine, async ({ query }) => {
      const columns = `id varchar(80) PRIMARY KEY, kind varchar(20) NOT NULL, body varchar(200) NOT NULL, made_at ${instant} NOT NULL`;
      await query(`CREATE TABLE jobs (${columns}, sent_at ${instant})`);
      await query(`CREATE TABLE jobs_dead (${columns}, died_at ${instant} NOT NULL, err varchar(100))`);
    });
    let open: ProvenOutbox;
    beforeAll(async () => {
      open = await openProven(database, WITH_LETTERS, { inline: true });
    });
    afterAll(() => open.close());

    test('shows the deaths of now behind hundreds of old ones', async () => {
      const dead = (id: string, died: number) => `('${id}', 'k', '{}', ${ago(died + 100)}, ${ago(died)}, 'e')`;
      await database.query(`INSERT INTO jobs_dead VALUES ${times(600, (index) => dead(named(index), 86_400)).join(', ')}`);
      const earlier = await read(open, false);
      await database.query(`INSERT INTO jobs_dead VALUES ${times(100, (index) => dead(`z-${index}`, 1 + index)).join(', ')}`);
      const now = await read(open, false);
      expect(holds(now, looks(earlier, now))).toEqual(['dead_growing']);
      expect(factOf('newly_dead', now, looks(earlier, now))?.count).toBe(100);
    });
  });

  describe('dead events in two tables', () => {
    const database = useTestDatabaseOf(engine, async ({ query }) => {
      await query(table(instant));
      await query('CREATE INDEX jobs_status ON jobs (status, made_at)');
      await query('CREATE INDEX jobs_sent ON jobs (sent_at)');
      await query(`CREATE TABLE jobs_dead (id varchar(80) PRIMARY KEY, kind varchar(20) NOT NULL, body varchar(200) NOT NULL,
        made_at ${instant} NOT NULL, died_at ${instant} NOT NULL, err varchar(100))`);
      await query('CREATE INDEX jobs_dead_died ON jobs_dead (died_at)');
    });
    let open: ProvenOutbox;
    beforeAll(async () => {
      open = await openProven(database, IN_TWO_TABLES, { inline: true });
    });
    afterAll(() => open.close());

    test('are not all counted because the oldest of one table is: those left out of the other may be newer', async () => {
      await database.query(`INSERT INTO jobs VALUES ('old', 'k', '{}', ${ago(90_000)}, null, ${ago(86_400)}, null, 'FAILED', 5)`);
      const letters = times(1_000, (index) => `('${named(index)}', 'k', '{}', ${ago(60 + index * 3)}, ${ago(50 + index * 3)}, 'e')`);
      await database.query(`INSERT INTO jobs_dead VALUES ${letters.join(', ')}`);
      const reading = await read(open, false);
      expect(reading.deadDetailed).toBe(false);
      expect(createdIn(reading, '1h').known).toBe('estimated');
    });
  });
});
