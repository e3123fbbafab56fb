/** Causes of dead events as the collector counts them: the newest at once, all of them in rounds, slice by slice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventually, series, useStage } from '@/fixtures/collector/stage';
import { testOutbox } from '@/fixtures/outboxes';
import { fingerprintOf } from '@/lib/outbox/lists/causes';
import type { Outbox } from '@/lib/outbox/outbox';
import { defineShape } from '@/lib/shape/define';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { CAUSES_MAX } from '@/lib/shared/dead-letter-groups';
import { putCauseNote, readCauses } from '@/lib/store/causes';
import { LeaseLost, takeLease, type Lease } from '@/lib/store/collector-leases';
import { CauseCollector } from './causes';

const ROWS = 5_400;
const ID = 'dying';

const shape = defineShape({
  key: 'inline',
  label: 'dying',
  origin: 'test',
  engines: ['postgres', 'mysql'],
  table: 'dying',
  columns: { id: 'id', type: 'kind', error: 'error', createdAt: 'made', payload: 'body' },
  states: [
    { state: 'dead', when: { column: 'status', equals: 'failed' } },
    { state: 'retrying', when: { column: 'status', equals: 'again' } },
    { state: 'pending', when: { column: 'status', equals: 'new' } },
    { state: 'published', when: { column: 'status', equals: 'out' } },
  ],
});
const settings = { table: 'dying', inline: true, amount: { value: 'payload.amount', currency: 'payload.currency' } } as const;

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const postgres = engine === 'postgres';
  const make = (table: string, index: string): string[] => [
    `create table ${table} (id int primary key, kind varchar(40), status varchar(10) not null, error text, made ${postgres ? 'timestamptz' : 'datetime(6)'}, body ${postgres ? 'jsonb' : 'json'})`,
    ...(index === '' ? [] : [`create index ${table}_walk on ${table} ${index}`]),
  ];
  const outboxes = [testOutbox(shape, ID, settings), testOutbox(shape, 'bare', { ...settings, table: 'bare' })];
  const stage = useStage(
    outboxes,
    async (observed) => {
      for (const text of [...make('dying', '(status, made, id)'), ...make('bare', '')]) await observed.query(text);
    },
    engine,
  );
  const { observed, kept } = stage;
  /** Rows `from` to below `to`: every fourth of another cause; the texts of the first differ. */
  const die = (
    from: number,
    to: number,
    { table = 'dying', error = "concat('node-', i, '.internal:80 refused')", status = 'failed' } = {},
  ) => {
    const [numbers, time, body] = postgres
      ? [
          `generate_series(${from}, ${to - 1}) as i`,
          `timestamptz '2026-01-01' + i * interval '1 second'`,
          `jsonb_build_object('amount', '0.10', 'currency', 'EUR')`,
        ]
      : [series(to), `timestamp'2026-01-01 00:00:00' + interval i second`, `json_object('amount', '0.10', 'currency', 'EUR')`];
    return observed.query(
      `insert into ${table} select i, 'paid', '${status}', case when i % 4 = 0 then 'out of memory' else ${error} end, ${time}, ${body} from ${numbers} where i >= ${from}`,
    );
  };
  const large = async (id: string): Promise<Outbox> => {
    const outbox = await stage.directory.get(id);
    return { ...outbox, main: { ...outbox.main, description: { ...outbox.main.description, estimatedRows: 10_000_000 } } };
  };
  const lease = async (owner = 'one', id = ID): Promise<Lease> => {
    const taken = await takeLease(stage.store.db, id, owner, 60);
    if (taken === null) throw new Error('the lease is another one’s');
    return taken;
  };
  const open = () => new CauseCollector(0, 20, { moved: 0, unmoved: 0 });
  /** Ticks until it holds. */
  const tick = async (causes: CauseCollector, outbox: Outbox, own: Lease, dead: number, check: () => Promise<void> | void, waiting = 0) => {
    await eventually(async () => {
      expect(await causes.work(own, outbox, stage.store, { waiting, dead })).toBeNull();
      await check();
    }, 60_000);
  };
  const now = async (id = ID) => {
    const { causes, round } = await readCauses(stage.store.db, id);
    return { round, causes: causes.map(({ error, count, known, sums, summed }) => [error, count, known, sums[0]?.amount, summed]) };
  };

  beforeEach(async () => {
    await observed.query('truncate table dying');
    await observed.query('truncate table bare');
    await kept.query('truncate cause, cause_round, acted');
  });

  it('tells the newest first, and all of them with their sums when the round ends, after one slice a tick', async () => {
    await die(0, ROWS);
    const [outbox, own, causes] = [await large(ID), await lease(), open()];
    expect(await causes.work(own, outbox, stage.store, { waiting: 0, dead: ROWS })).toBeNull();
    expect(await now()).toEqual({
      round: null,
      causes: [
        ['… refused', 750, 'capped', '75.00', 750],
        ['out of memory', 250, 'capped', '25.00', 250],
      ],
    });
    await tick(causes, outbox, own, ROWS, async () => {
      const { round, causes: all } = await now();
      expect(round).toMatchObject({ rows: ROWS, others: 0, known: 'exact', movedAt: null });
      expect(all).toEqual([
        ['… refused', (ROWS * 3) / 4, 'exact', '405.00', (ROWS * 3) / 4],
        ['out of memory', ROWS / 4, 'exact', '135.00', ROWS / 4],
      ]);
    });
    const { causes: told } = await readCauses(stage.store.db, ID);
    expect(told[0]).toMatchObject({
      id: fingerprintOf({ type: 'paid', error: 'node-1.internal:80 refused' }),
      firstSeenAt: expect.stringMatching(/^2026-01-01T00:00:01/) as string,
      lastSeenAt: expect.stringMatching(/^2026-01-01T01:29:59/) as string,
      samples: ['5399', '5398', '5397'],
    });
    expect(told[1]?.samples).toHaveLength(1);
  });

  it('adds up amounts of 1 and 0, as numbers or as texts, and none that are true or false', async () => {
    await die(0, 8);
    for (const [id, amount] of Object.entries({ 1: true, 2: false, 3: 1, 5: '0' }))
      await observed.query(`update dying set body = '${JSON.stringify({ amount, currency: 'EUR' })}' where id = ${id}`);
    const [outbox, own, causes] = [await large(ID), await lease(), open()];
    await tick(causes, outbox, own, 8, async () => expect((await now()).round).not.toBeNull());
    expect((await now()).causes[0]).toEqual(['… refused', 6, 'exact', '1.20', 4]);
  });

  it('tells a new cause at once, with at least so many, and that the others may have moved; the next round counts it', async () => {
    await die(0, ROWS);
    const [outbox, own, causes] = [await large(ID), await lease(), open()];
    await tick(causes, outbox, own, ROWS, async () => expect((await now()).round).not.toBeNull());
    await observed.query("update dying set error = 'disk full' where id >= 5390 and id % 4 <> 0");
    await die(ROWS, ROWS + 4, { error: "'disk full'" });
    await tick(causes, outbox, own, ROWS + 4, async () => {
      const { round, causes: all } = await now();
      expect(round?.movedAt).not.toBeNull();
      expect(all).toContainEqual(['disk full', 11, 'capped', '1.10', 11]);
    });
    await tick(causes, outbox, own, ROWS + 4, async () =>
      expect((await now()).causes).toContainEqual(['disk full', 11, 'exact', '1.10', 11]),
    );
    expect((await now()).round).toMatchObject({ rows: ROWS + 4, known: 'exact', movedAt: null });
  });

  it('counts are of a round in which something moved: estimated', async () => {
    await die(0, ROWS);
    const [outbox, own, causes] = [await large(ID), await lease(), open()];
    await causes.work(own, outbox, stage.store, { waiting: 0, dead: ROWS });
    await tick(causes, outbox, own, ROWS - 1, async () => expect((await now()).round).toMatchObject({ known: 'estimated' }));
  });

  it('keeps when a cause was seen, and its note, when the last of its events has gone; it comes back as the same', async () => {
    await die(0, 40);
    const [outbox, own, causes] = [await large(ID), await lease(), open()];
    const id = fingerprintOf({ type: 'paid', error: 'out of memory' });
    await tick(causes, outbox, own, 40, async () => expect((await now()).causes).toHaveLength(2));
    expect(
      await putCauseNote(stage.store.db, { outbox: ID, fingerprint: id, note: 'known', actor: { id: 'a', name: 'mina' } }),
    ).toMatchObject({
      note: { text: 'known', actor: 'mina' },
    });
    await observed.query("update dying set status = 'out', error = null where id % 4 = 0");
    await tick(causes, outbox, own, 30, async () => expect((await now()).round).toMatchObject({ rows: 30 }));
    const [, gone] = (await readCauses(stage.store.db, ID)).causes;
    expect(gone).toMatchObject({ id, count: 0, sums: [], firstSeenAt: expect.stringMatching(/^2026-01-01T00:00:00/) as string });
    expect(gone).toMatchObject({ note: { text: 'known' }, lastSeenAt: expect.stringMatching(/^2026-01-01T00:00:36/) as string });
    await observed.query('truncate table dying');
    await die(100, 101);
    await tick(causes, outbox, own, 1, async () => expect((await now()).round).toMatchObject({ rows: 1 }));
    const [back] = (await readCauses(stage.store.db, ID)).causes;
    expect(back).toMatchObject({
      id,
      count: 1,
      note: { text: 'known' },
      firstSeenAt: expect.stringMatching(/^2026-01-01T00:00:00/) as string,
    });
  });

  it('keeps five hundred causes, and counts the others together', async () => {
    const word = postgres
      ? "translate(i::text, '0123456789', 'abcdefghij')"
      : 'cast(' +
        [...'0123456789'].reduce((text, digit, at) => `replace(${text}, '${digit}', '${'abcdefghij'.charAt(at)}')`, 'i') +
        ' as char)';
    await die(0, 2_400, { error: `concat('step ', ${word})` });
    const [outbox, own, causes] = [await large(ID), await lease(), open()];
    await tick(causes, outbox, own, 2_400, async () => expect((await now()).round).not.toBeNull());
    const { round, causes: all } = await now();
    expect(all).toHaveLength(CAUSES_MAX);
    expect(all[0]).toEqual(['out of memory', 600, 'exact', '60.00', 600]);
    expect(round).toMatchObject({ rows: 2_400, others: 2_400 - 600 - (CAUSES_MAX - 1) });
    const [{ n } = {}] = await kept.query<{ n: string }>('select count(*) as n from cause');
    // Those of the newest, told before the round ended, are kept as seen.
    expect(Number(n)).toBeLessThanOrEqual(2 * CAUSES_MAX);
  });

  it('without an index that leads along them, tells the newest and says that these are a sample', async () => {
    await die(0, 1_500, { table: 'bare' });
    const [outbox, own, causes] = [await large('bare'), await lease('one', 'bare'), open()];
    await tick(causes, outbox, own, 1_500, async () => expect((await now('bare')).round).not.toBeNull());
    const { round, causes: all } = await now('bare');
    expect(round).toMatchObject({ rows: 1_000, known: 'sampled' });
    expect(all.map(([, count, known]) => [count, known])).toEqual([
      [750, 'sampled'],
      [250, 'sampled'],
    ]);
  });

  it('tells how many of the newest retrying events fail for which cause', async () => {
    await die(0, 4, { status: 'again' });
    await die(4, 5);
    const [outbox, own, causes] = [await stage.directory.get(ID), await lease(), open()];
    await tick(
      causes,
      outbox,
      own,
      1,
      async () => {
        const { causes: told } = await readCauses(stage.store.db, ID);
        expect(told.map(({ error, count, retrying }) => [error, count, retrying]).sort()).toEqual([
          ['out of memory', 1, 1],
          ['… refused', 0, 3],
        ]);
      },
      4,
    );
  });

  it('reads nothing where none is dead, and next to nothing while nothing moves', async () => {
    const [outbox, own, causes] = [await large(ID), await lease(), open()];
    for (let ticks = 0; ticks < 3; ticks += 1) await causes.work(own, outbox, stage.store, { waiting: 0, dead: 0 });
    expect(causes.takeCost().statements).toBe(0);
    await die(0, 8);
    await tick(causes, outbox, own, 8, async () => expect((await now()).round).toMatchObject({ rows: 8 }));
    causes.takeCost();
    for (let ticks = 0; ticks < 3; ticks += 1) {
      await causes.work(own, outbox, stage.store, { waiting: 0, dead: 8 });
      await sleep(50);
    }
    expect(causes.takeCost().rows).toBeLessThanOrEqual(3);
  });

  it('writes nothing once the lease has passed to another process', async () => {
    await die(0, 8);
    const [outbox, own, causes] = [await large(ID), await lease(), open()];
    await kept.query("update collector_lease set expires_at = now() - interval '1 minute'");
    await lease('another');
    await expect(causes.work(own, outbox, stage.store, { waiting: 0, dead: 8 })).rejects.toBeInstanceOf(LeaseLost);
    expect(await now()).toEqual({ round: null, causes: [] });
  });

  it('is done by the collector in its ticks', async () => {
    await die(0, 8);
    stage.collect({ depthNow: () => Promise.resolve({ waiting: 0, dead: 8, oldestAgeMs: null }) });
    await eventually(async () => expect((await now()).round).toMatchObject({ rows: 8, known: 'exact' }));
    expect(stage.errors).toEqual([]);
  });
});
