/** What operators did is the records', not the relay's: figures and verdicts of rows that they changed, on both engines. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { mapping } from '@/fixtures/mapping';
import { useCompute } from '@/fixtures/outboxes';
import { diagnose } from '@/lib/diagnosis/judge/diagnose';
import { metricInput, spanOf } from '@/lib/figures/span';
import { summarise } from '@/lib/figures/summarise';
import { intervene } from '@/lib/interventions/intervene';
import { ALL_TYPES, TOUCHED } from '@/lib/rollup/cell';
import { countOf } from '@/lib/rollup/histogram';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { AGGREGATES, takeReading } from '@/lib/snapshots/readings';
import { openProven, useTestDatabaseOf, type ProvenOutbox } from '@/scripts/testing/outbox';
import type { Reading } from './reading';
import { planOf, readingStatement } from './reading-sql';

const jobs = (diedAt: object) =>
  mapping({
    engines: ['postgres', 'mysql'],
    table: 'jobs',
    columns: { id: 'id', type: 'kind', payload: 'body', createdAt: 'made_at', publishedAt: 'sent_at', attempts: 'tries', ...diedAt },
    states: [
      { state: 'published', when: { column: 'sent_at', isNull: false } },
      { state: 'dead', when: { column: 'status', equals: 'FAILED' } },
      { state: 'retrying', when: { column: 'tries', above: 0 } },
      { state: 'pending', when: { always: true } },
    ],
    operations: {
      retry: [
        { from: ['retrying'], version: 'exact', set: { tries: { value: 1 } } },
        { from: ['dead'], version: 'exact', set: { status: { value: 'NEW' } } },
      ],
    },
    archive: { from: ['dead', 'pending', 'retrying'] },
    asDead: { set: { status: { value: 'FAILED' }, died_at: { now: true } } },
  });

const compute = useCompute();
const DEAD = ['d-1', 'd-2', 'd-3', 'd-4', 'd-5'];

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const [instant, ago] =
    engine === 'postgres'
      ? ['timestamptz', (seconds: number) => `now() - interval '${seconds} s'`]
      : ['datetime(6)', (seconds: number) => `utc_timestamp(6) - interval ${seconds} second`];

  describe.each([
    ['with times of death', { diedAt: 'died_at' }],
    ['without times of death', {}],
  ])('%s', (_, diedAt) => {
    const database = useTestDatabaseOf(engine, async ({ query }) => {
      await query(`CREATE TABLE jobs (id varchar(80) PRIMARY KEY, kind varchar(20) NOT NULL, body varchar(200) NOT NULL, made_at ${instant} NOT NULL,
        sent_at ${instant}, died_at ${instant}, status varchar(10) NOT NULL, tries int NOT NULL)`);
    });
    let open: ProvenOutbox;
    beforeAll(async () => {
      open = await openProven(database, jobs(diedAt), { inline: true });
    });
    afterAll(() => open.close());
    beforeEach(async () => {
      await database.query('DELETE FROM jobs');
      const row = (id: string, status: string, made: number, tries: number, died: number | null) =>
        `('${id}', 'k', '{}', ${ago(made)}, null, ${died === null ? 'null' : ago(died)}, '${status}', ${tries})`;
      const waiting = Array.from({ length: 8 }, (_, index) => row(`w-${index}`, 'NEW', 900 - index, 0, null));
      const rows = [...DEAD.map((id) => row(id, 'FAILED', 4_000, 24, 3_000)), ...waiting, row('r-1', 'NEW', 5_000, 3, null)];
      await database.query(`INSERT INTO jobs VALUES ${rows.join(', ')}, ('s-1', 'k', '{}', ${ago(1_000)}, ${ago(950)}, null, 'NEW', 1)`);
    });

    const act = async (operation: string, ids: readonly string[]) => {
      const events = await Promise.all(ids.map(async (id) => ({ id, version: (await getEvent(open.outbox, id))?.event.version ?? '' })));
      return intervene(depsFor(open.outbox, open.known), ANNA, 'sample', { operation, events, reason: 'looked at' }, freshKey());
    };
    const read = (acted = true): Promise<Reading> => takeReading(open.outbox, new Date(Date.now() - 600_000).toISOString(), compute, acted);
    const verdictOf = (reading: Reading, ...previous: Reading[]) => {
      const figures = summarise(metricInput(reading, spanOf({ window: '1h' }, reading.asOf)), '1h');
      return diagnose({ reading, previous, figures, failure: null, history: null, now: Date.parse(reading.asOf) });
    };
    const dieAgain = (ids: readonly string[]) =>
      database.query(`UPDATE jobs SET status = 'FAILED', died_at = ${ago(0)} WHERE id IN (${ids.map((id) => `'${id}'`).join(', ')})`);

    test('a stopped relay stays stopped after a retry and an archive, and the evidence names both', async () => {
      const before = await read();
      expect(before.figures.acted?.acts).toEqual([]);
      expect(verdictOf(before).verdict).toBe('relay_stopped');
      expect((await act('retry', ['r-1'])).outcome).toBe('applied');
      const after = await read();
      expect(verdictOf(after, before)).toMatchObject({ verdict: 'relay_stopped', since: verdictOf(before).since });
      expect(verdictOf(after, before).evidence[2]).toMatchObject({
        code: 'operator_acted',
        values: { actor: ANNA.name, operation: 'retry', count: 1 },
      });
      expect(after.figures.relay_stopped?.touch ?? 0).toBe(0);
      await act('archive', ['w-0', 'w-1', 'w-2']);
      const last = await read();
      expect(verdictOf(last, before, after)).toMatchObject({ verdict: 'relay_stopped' });
      expect(last.figures.acted?.acts).toMatchObject([
        { operation: 'archive', actor: ANNA.name, count: 3, tidies: false },
        { operation: 'retry', count: 1, tidies: false },
      ]);
      await act('archive', ['d-1', 'd-2']);
      const tidied = await read();
      expect(tidied.figures.acted?.acts).toMatchObject([{ operation: 'archive', count: 2, tidies: true }, {}, {}]);
      expect(verdictOf(tidied, before, after, last)).toMatchObject({ verdict: 'relay_stopped' });
      // As it was told without the records.
      if (engine === 'postgres') expect(verdictOf(await read(false), before).verdict).toBe('poison_row');
      if (engine === 'postgres') expect((await read(false)).figures.relay_stopped?.touch).toBeGreaterThan(0);
    });

    test('events sent again that died again are no new deaths, and a new one beside them is', async () => {
      const before = await read();
      expect((await act('retry', DEAD)).outcome).toBe('applied');
      const sent = await read();
      await dieAgain(DEAD);
      const after = await read();
      const said = verdictOf(after, before, sent);
      expect(said.holds.map(({ verdict }) => verdict)).not.toContain('dead_growing');
      expect(said.evidence).toContainEqual({ code: 'died_again', values: { count: 5, atLeast: 'no' } });
      expect(after.figures.died_again).toMatchObject({ touched: 5 });
      await dieAgain(['w-7']);
      const grown = verdictOf(await read(), before, sent, after);
      expect(grown.holds.map(({ verdict }) => verdict)).toContain('dead_growing');
      expect(grown.evidence.find(({ code }) => code === 'newly_dead')?.values).toMatchObject({ count: 1 });
      // As it was told without the records.
      expect(verdictOf(await read(false), before, sent).evidence.find(({ code }) => code === 'newly_dead')?.values.count).toBe(6);
    });

    test('what comes back from the archive as dead, of now, was not sent again', async () => {
      // The records of other tests know these.
      await database.query("DELETE FROM jobs WHERE id LIKE 'd-%'");
      const row = (id: string, status: string) => `('${id}', 'k', '{}', ${ago(4_000)}, null, ${ago(3_000)}, '${status}', 0)`;
      await database.query(`INSERT INTO jobs VALUES ${row('b-1', 'FAILED')}, ${row('b-2', 'NEW')}`);
      await act('archive', ['b-1', 'b-2']);
      expect((await act('restore', ['b-1', 'b-2'])).outcome).toBe('applied');
      const restored = await read();
      expect(restored.figures.died_again).toMatchObject({ touched: 2, again: 0 });
      expect(verdictOf(restored).evidence.map(({ code }) => code)).not.toContain('died_again');
      await act('retry', ['b-1']);
      await dieAgain(['b-1']);
      expect(verdictOf(await read()).evidence).toContainEqual({ code: 'died_again', values: { count: 1, atLeast: 'no' } });
    });

    test('a row with many attempts that was put back is no poison', async () => {
      const before = await read();
      expect((await act('retry', ['d-1'])).outcome).toBe('applied');
      const after = await read();
      // It is ready since it was put back, not since it was created.
      const { oldestFresh } = after.figures.falling_behind ?? {};
      expect(Date.parse(String(oldestFresh))).toBe(Date.parse(String(before.figures.falling_behind?.oldestFresh)));
      expect(after.figures.poison_row?.most).toMatchObject([{ attempts: 24 }, { attempts: 3 }]);
      expect(verdictOf(after, before).holds.map(({ verdict }) => verdict)).not.toContain('poison_row');
    });

    test('what went out after a retry has its latency apart from the first reading on', async () => {
      await act('retry', ['r-1']);
      await database.query(`UPDATE jobs SET sent_at = ${ago(0)} WHERE id IN ('r-1', 'w-5')`);
      const told = ({ tail }: Reading, series: string) =>
        [...tail.values()].flatMap((cells) => cells.get(series) ?? []).map(({ published, latency }) => [published, countOf(latency)]);
      const reading = await read();
      expect([told(reading, ALL_TYPES), told(reading, TOUCHED)]).toEqual([[[2, 1]], [[0, 1]]]);
      expect(told(await read(false), ALL_TYPES)).toEqual([[2, 2]]);
    });

    test('where nobody acted, nothing is asked of the records', () => {
      const asks = JSON.stringify(readingStatement(open.outbox, planOf(open.outbox, null, AGGREGATES)).toOperationNode());
      expect(asks.includes('intervention')).toBe(false);
    });
  });
});
