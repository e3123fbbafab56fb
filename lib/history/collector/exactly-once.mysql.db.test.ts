import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDirectory } from '@/lib/outbox/directory';
import { openStore } from '@/lib/store/store';
import { usePublishers } from '@/fixtures/collector/publishers';
import { ORDERS, eventually, timingOn, useStage } from '@/fixtures/collector/stage';

const { outbox: orders, create, table } = ORDERS.mysql;
const OUTBOX = orders.id;
const stage = useStage([orders], create, 'mysql');
const { observed, kept, collect, progress, total, errors } = stage;
const { traffic, booksMatch } = usePublishers('mysql', stage);
beforeEach(() => observed.query(`truncate ${table}`));

const TIMING = timingOn('mysql');
const published = async (): Promise<number> => {
  const [row] = await observed.query<{ n: string }>(`select count(*) as n from ${table} where published_at is not null`);
  return Number(row?.n);
};

/** Ends half of the collector's connections and half of the publishers'. */
async function endConnections(): Promise<void> {
  const rows = await observed.query<{ id: string }>(
    `select distinct processlist_id as id from performance_schema.session_connect_attrs
     where attr_name = 'program_name' and (attr_value = 'service' or attr_value like 'outbox-console/collector%')
       and processlist_id in (select id from information_schema.processlist where db = database()) and rand() < 0.5`,
  );
  // One that has gone by itself cannot be ended.
  await Promise.all(rows.map(({ id }) => observed.query(`kill ${id}`).catch(() => undefined)));
}

describe('every event is counted once where the server tells nothing of its transactions', () => {
  it('by the lag alone, where its transaction ends within it', async () => {
    const collector = collect({ timing: { ...TIMING, most: 3, recount: 3_600 } });
    await eventually(() => expect(collector.status(OUTBOX).state).toBe('collecting'));
    const going = traffic(1_500);
    await sleep(4_000);
    await going.stop();
    const truth = await published();
    expect(truth).toBeGreaterThan(100);
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(truth));
    expect(errors).toEqual([]);
  });

  it('under transactions held far longer than the lag, savepoints, lost connections, collectors that die, and leases that pass on', async () => {
    const going = traffic(7_000);
    // Two that take the lease from each other with every other look.
    const fighters = [1, 2].map(() => collect({ timing: { ...TIMING, lease: 0.15 } }));
    await sleep(4_000);
    await Promise.all(fighters.map((fighter) => fighter.stop()));
    // Some that die at some moment of their work: their connections to the store are gone, and their lease is not given back.
    for (let life = 0; life < 4; life += 1) {
      const own = openStore(kept.url);
      const directory = createDirectory({ databases: [{ id: 'test', url: observed.url }], outboxes: [orders] });
      const dying = collect({ store: own, directory, timing: { ...TIMING, lease: 0.4 } });
      await sleep(700 + Math.random() * 300);
      await own.close();
      await dying.stop();
      await directory.close();
      await sleep(400);
    }
    // One whose connections, and the publishers', are ended by the server.
    const collector = collect({ timing: { ...TIMING, most: 0.5 } });
    for (let cut = 0; cut < 3; cut += 1) {
      await sleep(700);
      await endConnections();
    }
    const marked = (await progress(OUTBOX))?.suspects ?? [];
    expect(marked).not.toEqual([]);
    await going.stop();
    await booksMatch(90_000);
    expect(await published()).toBeGreaterThan(200);
    // A minute has to end before it can be recounted, also where the books match before.
    await eventually(async () => {
      const suspects = (await progress(OUTBOX))?.suspects ?? [];
      expect(suspects.filter((minute) => marked.includes(minute))).toEqual([]);
    });
    expect(collector.status(OUTBOX).state).toBe('collecting');
  });
});
