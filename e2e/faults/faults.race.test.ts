/**
 * Whatever breaks while operators work: what they were told, the records, the audit and the lists never contradict the tables' own
 * history. `npm run faults` runs more of these, of any seed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '@/demo/random';
import { environmentValue } from '@/lib/env';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestMysql } from '@/scripts/testing/mysql';
import type { FaultEvidence, SentKey } from './evidence';
import { FAULTS, type Fault } from './faults';
import { FAULT_RULES } from './judge';
import { askInTheEnd, auditOf, listed, operate, sleep } from './operators';
import { makeWorld, type World } from './world';

const RUNS = Number(environmentValue('FAULT_RUNS') ?? FAULTS.length);
const SEED = environmentValue('FAULT_SEED') ?? 'faults';
const ONLY = environmentValue('FAULT_ONLY');

const OPERATORS = 3;
/** All that was unknown is settled this long after everything is back. */
const SETTLED_MS = 30_000;
/** And in the audit. */
const AUDITED_MS = 30_000;
const DEFINITE_FIRST = 5;

const store = useTestDatabase();
const mysql = useTestMysql();
let world: World;
beforeAll(async () => {
  world = await makeWorld(store, mysql);
});
afterAll(() => world.close());

const totals = { keys: 0, records: 0, changes: 0, unknown: 0, refused: 0, unanswered: 0 };

const runs = Array.from({ length: RUNS }, (_, number) => {
  const fault = FAULTS[number % FAULTS.length] as Fault;
  const turn = number + Math.floor(number / FAULTS.length);
  const engine = fault.engines[turn % fault.engines.length] ?? 'postgres';
  return { number, engine, fault, name: `run ${String(number)}, ${fault.key}, on ${engine}` };
}).filter(({ number }) => ONLY === undefined || Number(ONLY) === number);

describe(`faults of seed ${SEED}`, () => {
  it.each(runs)('$name', async ({ number, engine, fault }) => {
    const hand = createRandom(`${SEED} ${String(number)}`);
    const found = world.places.filter(({ place }) => place.contender.engine === engine);
    const { place, lines } = hand.pick(found as [(typeof found)[number], ...typeof found]);
    await place.prepare(hand.fork('events'));
    const from = new Date(Date.now() - 1_000).toISOString();
    // The run before may have ended here within that second.
    const earlier = new Set((await auditOf(world.api, place.outbox, from)).map(({ id }) => id));
    const auditOfRun = async () => (await auditOf(world.api, place.outbox, from)).filter(({ id }) => !earlier.has(id));
    const keys: SentKey[] = [];
    let isOver = false;
    const over = (): boolean => isOver;
    const { api } = world;
    const { outbox, contender } = place;
    const working = [
      place.live(hand.fork('service'), over),
      ...Array.from({ length: OPERATORS }, (_, index) =>
        operate({
          api,
          outbox,
          hand: hand.fork(`operator ${String(index)}`),
          operations: contender.operations,
          bulk: fault.bulk === true || index === 0,
          keys,
          over,
        }),
      ),
    ];
    const applied = (): number => keys.filter(({ tries }) => tries.some(({ answer }) => (answer?.changed.length ?? 0) > 0)).length;
    await expect.poll(applied, { interval: 50 }).toBeGreaterThanOrEqual(DEFINITE_FIRST);
    await sleep(hand.int(0, 500));
    const besides = await fault.strike({ world, place, lines, hand: hand.fork('fault'), keys });
    const mended = Date.now();
    // They go on for a moment with everything back.
    const before = applied();
    await expect.poll(applied, { interval: 50 }).toBeGreaterThan(before);
    isOver = true;
    await Promise.all(working);

    await askInTheEnd(api, outbox, keys, mended + SETTLED_MS);
    const settledMs = Date.now() - mended;
    const tables = await place.evidence();
    const lineCount = tables.recorded.reduce((sum, { lines: all }) => sum + all.length, 0);
    const audited = async () => (await auditOfRun()).filter(({ code }) => code !== 'not_applied').length;
    await expect
      .poll(audited, { interval: 500, timeout: AUDITED_MS })
      .toBeGreaterThanOrEqual(lineCount)
      .catch(() => undefined);
    const asked = tables.recorded.flatMap(({ id, key }) =>
      (keys.find((sent) => sent.key === key)?.events ?? []).map(({ id: event, version }) => ({ intervention: id, event, version })),
    );
    const evidence: FaultEvidence = { ...tables, asked, keys, audit: await auditOfRun(), listed: await listed(api, outbox) };

    const told = keys.flatMap(({ tries, asked }) => [...tries, ...asked]);
    const run = {
      keys: keys.length,
      records: tables.recorded.length,
      changes: tables.history.filter(({ ours }) => ours).length,
      unknown: told.filter(({ answer }) => answer?.outcome === 'unknown').length,
      refused: told.filter(({ status }) => status !== null && status >= 400).length,
      unanswered: told.filter(({ status }) => status === null).length,
    };
    for (const [name, count] of Object.entries(run)) totals[name as keyof typeof totals] += count;
    console.log(`run ${String(number)}: ${fault.key} on ${contender.key}: ${JSON.stringify({ ...run, settledMs })}`);
    expect.soft(besides).toEqual([]);
    for (const [rule, judge] of Object.entries(FAULT_RULES)) expect.soft(judge(evidence), rule).toEqual([]);
  });
});

it('were faults worth the name', () => {
  console.log(`faults: ${JSON.stringify(totals)}`);
  if (ONLY !== undefined) return;
  for (const [name, count] of Object.entries(totals)) expect(count, name).toBeGreaterThan(0);
});
