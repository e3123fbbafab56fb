/** What operators do to a table that deletes on publishing: neither created nor published, and what comes of it is apart. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@/fixtures/collector/stage';
import { watch, type Watch } from '@/fixtures/collector/watch';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { intervene } from '@/lib/interventions/intervene';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { ALL_TYPES, TOUCHED } from '@/lib/rollup/cell';
import { bucketOf } from '@/lib/rollup/histogram';
import { defineShape } from '@/lib/shape/define';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { openSample, proven, useTestDatabaseOf, type ProvenOutbox } from '@/scripts/testing/outbox';
import { deletesObserver } from './departures';

const JOBS = defineShape({
  key: 'jobs',
  label: 'jobs',
  origin: 'test',
  engines: ['postgres', 'mysql'],
  table: 'jobs',
  columns: { id: 'id', type: 'kind', createdAt: 'made', attempts: 'tries' },
  states: [
    { state: 'dead', when: { column: 'tries', atLeast: 5 } },
    { state: 'retrying', when: { column: 'tries', above: 0 } },
    { state: 'pending', when: { always: true } },
  ],
  operations: { requeue: [{ from: ['dead'], version: 'exact', set: { tries: { value: 0 } } }] },
  archive: { from: ['dead', 'pending', 'retrying'] },
});

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const made = engine === 'postgres' ? 'timestamptz NOT NULL DEFAULT now()' : 'datetime(6) NOT NULL DEFAULT current_timestamp(6)';
  const yesterday = engine === 'postgres' ? `now() - interval '1 day'` : 'utc_timestamp(6) - interval 1 day';
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query(`CREATE TABLE jobs (id bigint PRIMARY KEY, kind varchar(40) NOT NULL, tries int NOT NULL, made ${made})`);
  });
  let open: ProvenOutbox;
  let looks: Watch;
  beforeAll(async () => {
    open = await proven(await openSample(database, JOBS, { inline: true }));
    const now = new Date().toISOString();
    looks = watch(depsFor(open.outbox, open.known).directory, 'sample', deletesObserver, () => ({ first: now, last: now }));
    await database.query(`INSERT INTO jobs VALUES (1, 'a', 5, ${yesterday}), (2, 'a', 0, ${yesterday}), (3, 'a', 5, ${yesterday}),
      (4, 'a', 5, ${yesterday}), (5, 'a', 4, ${yesterday})`);
  });
  afterAll(() => open.close());
  const act = async (operation: string, id: string): Promise<void> => {
    const version = (await getEvent(open.outbox, id))?.event.version ?? '';
    const request = { operation, events: [{ id, version }], reason: 'the node is back' };
    expect(await intervene(depsFor(open.outbox, open.known), ANNA, 'sample', request, freshKey())).toMatchObject({ outcome: 'applied' });
  };
  const counters = (): Promise<{ inserted: number; deleted: number } | null> =>
    open.outbox.database.read((db) => open.outbox.database.engine.changeCounts(db, open.outbox.main.table));

  it('dead and waiting rows that are archived and restored are neither created nor published', async () => {
    await eventually(async () => expect(await counters()).toMatchObject({ inserted: 5, deleted: 0 }));
    await looks.tick();
    for (const id of ['1', '2'])
      for (const operation of ['archive', 'restore']) {
        await act(operation, id);
        await looks.tick();
      }
    await eventually(async () => {
      await looks.tick();
      expect(await counters()).toMatchObject({ inserted: 7, deleted: 2 });
    });
    await looks.tick();
    expect(looks.sum()).toMatchObject({ published: 0, created: 0 });
  });

  it('a row that is sent again where it is counts when it is out, and how long it took is apart', async () => {
    await act('requeue', '3');
    await looks.tick();
    await database.query('DELETE FROM jobs WHERE id = 3');
    await looks.tick();
    await eventually(async () => {
      await looks.tick();
      expect(await counters()).toMatchObject({ deleted: 3 });
    });
    await looks.tick();
    expect(looks.sum()).toMatchObject({ published: 1, created: 1, latencySumMs: 0 });
    const buckets = [...looks.sum(TOUCHED).latency];
    expect(buckets.map(([bucket, events]) => [Math.abs(bucket - bucketOf(86_400_000)) <= 1, events])).toEqual([[true, 1]]);
  });

  it('a row that is sent again and out between two looks is published, and was not created now', async () => {
    const minute = Math.floor(Date.now() / 60_000) - 1;
    const before = looks.sum();
    await act('requeue', '4');
    await database.query('DELETE FROM jobs WHERE id = 4');
    await eventually(async () => {
      await looks.tick();
      expect(await counters()).toMatchObject({ deleted: 4 });
    });
    await looks.tick();
    expect(looks.sum()).toMatchObject({ published: before.published + 1 });
    const lately = [...looks.additions].filter(([at]) => at >= minute).map(([, cells]) => cells.get(ALL_TYPES)?.created ?? 0);
    expect(lately.reduce((sum, created) => sum + created, 0)).toBe(0);
  });

  it('a row that dies where it is hides none that nobody saw', async () => {
    const before = looks.sum();
    await database.query('UPDATE jobs SET tries = 5 WHERE id = 5');
    await database.query(`INSERT INTO jobs VALUES (6, 'a', 0, ${engine === 'postgres' ? 'now()' : 'utc_timestamp(6)'})`);
    await database.query('DELETE FROM jobs WHERE id = 6');
    await eventually(async () => {
      await looks.tick();
      expect(await counters()).toMatchObject({ inserted: 8, deleted: 5 });
    });
    await looks.tick();
    expect(looks.sum()).toMatchObject({ published: before.published + 1, created: before.created + 1 });
  });
});
