/** When an incident began is known to every replica, and after a restart. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, describe, it } from 'vitest';
import { openHistory } from '@/lib/history/history';
import { computeInStore } from '@/lib/live/take-reading';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { openStore, type Store } from '@/lib/store/store';
import { eventually, ORDERS, timingOn, useStage } from '@/fixtures/collector/stage';
import { createSnapshots, type Snapshots } from './snapshots';

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const { outbox, table, create, publish } = ORDERS[engine];
  const stage = useStage([outbox], create, engine);
  const spans = () =>
    stage.kept.query<{ at: number }>(
      `select verdict, floor(extract(epoch from began_at) * 1000)::float8 as at, ended_at from verdict_span`,
    );
  const snapshotsOn = (store: Store): Snapshots =>
    createSnapshots(stage.directory, { history: openHistory(store), compute: computeInStore(store) });
  /** A replica of the console, and how often it looked while it was the one to enter. */
  function replica(store: Store) {
    const snapshots = snapshotsOn(store);
    let looks = 0;
    const holdsNow = (id: string) => {
      looks += 1;
      return snapshots.holdsNow(id);
    };
    const collector = stage.collect({ store, holdsNow, timing: { ...timingOn(engine), lease: 1 } });
    return { collector, snapshots, looks: () => looks };
  }

  it('keeps its start, is entered once though its owner dies, and is known after a restart', async () => {
    const own = openStore(stage.kept.url);
    await publish(stage.observed, 5, 60);
    const first = replica(own);
    await eventually(async () => expect((await stage.progress(outbox.id))?.unread).toEqual([]));
    const second = replica(stage.store);
    const missing = { verdict: 'cannot_see', evidence: [{ code: 'table_missing' }, {}] };
    const [name, away] = [table, `${table}_away`];
    const rename = (from: string, to: string) =>
      stage.observed.query(
        engine === 'postgres' ? `alter table ${from} rename to ${to.split('.')[1] ?? to}` : `rename table ${from} to ${to}`,
      );
    await rename(name, away);
    await eventually(async () => expect(await spans()).toMatchObject([{ verdict: 'cannot_see', ended_at: null }]));
    const [{ at } = { at: NaN }] = await spans();

    // Its lease is not given back.
    await own.close();
    await eventually(() => expect(second.looks()).toBeGreaterThan(2));
    expect(await spans()).toMatchObject([{ verdict: 'cannot_see', at, ended_at: null }]);
    const told = async (snapshots: Snapshots) => {
      const { since, holds, ...rest } = (await snapshots.summary(outbox.id, '1h')).diagnosis;
      return { ...rest, at: [since, ...holds.map((one) => one.since)].map((time) => Date.parse(time ?? '')) };
    };
    await eventually(async () => expect(await told(second.snapshots)).toMatchObject({ ...missing, at: [at, at] }));
    expect(await told(snapshotsOn(stage.store))).toMatchObject({ ...missing, at: [at, at] });

    await rename(away, name);
    await eventually(async () => expect((await snapshotsOn(stage.store).summary(outbox.id, '1h')).diagnosis.verdict).toBe('healthy'));
    await first.collector.stop();
  });

  it('of a table that was never read keeps its start too', async () => {
    await stage.observed.query(engine === 'postgres' ? `alter table ${table} rename to away` : `rename table ${table} to away`);
    const { collector } = replica(stage.store);
    await eventually(async () => expect(await spans()).toMatchObject([{ verdict: 'cannot_see' }]));
    const [{ at } = { at: NaN }] = await spans();
    expect(await stage.progress(outbox.id)).toBeNull();
    await sleep(20);
    const { diagnosis } = await snapshotsOn(stage.store).summary(outbox.id, '1h');
    expect([diagnosis.since, diagnosis.holds[0]?.since].map((time) => Date.parse(time ?? ''))).toEqual([at, at]);
    await collector.stop();
  });
});
