/** The seeds of a lane as tests. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, type ExpectStatic, it } from 'vitest';
import { environmentValue } from '@/lib/env';
import { useTestMysql } from '@/scripts/testing/mysql';
import { bundleEngine } from './bundle';
import { checkSeed } from './check-seed';
import { openLane, type Lane } from './lane';
import { describeSeed, drawSeed, type Seed } from './seed';

export const SEED = environmentValue('RUN_SEED') ?? 'runs';
const SEEDS = Number(environmentValue('RUN_SEEDS') ?? 50);
const ONLY = environmentValue('RUN_ONLY');
const LANES = 2;

/** A lane's servers, and the folder of its bundles, for the tests of a file. */
export function useLane(number: number): { lane: () => Lane; folder: () => string } {
  const mysql = useTestMysql();
  let [lane, folder]: [Lane | null, string] = [null, ''];
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'outbox-console-runs-'));
    lane = await openLane(number, mysql);
  });
  afterAll(async () => {
    await lane?.end();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    lane: () => {
      if (lane === null) throw new Error('the lane is open from beforeAll on');
      return lane;
    },
    folder: () => folder,
  };
}

/** All that breaks in it is its own: another one may go on beside it. */
const isApart = ({ faults }: Seed): boolean => faults.every(({ stopsServer }) => stopsServer !== true);

/** Every second seed. */
export function checkLane(number: number): void {
  const { lane, folder } = useLane(number);
  let bundle = '';
  beforeAll(async () => {
    bundle = await bundleEngine(path.join(folder(), 'engine.cjs'));
  });
  const numbers = Array.from({ length: SEEDS }, (_, at) => at).filter(
    (one) => one % LANES === number && (ONLY === undefined || Number(ONLY) === one),
  );
  const moments = { kills: 0 };

  const check = async (what: string, seed: Seed, own: ExpectStatic): Promise<void> => {
    const calm = seed.quiet ? await checkSeed(lane(), bundle, seed, true) : null;
    const { wrong, counts, struck, ms, output } = await checkSeed(lane(), bundle, seed);
    if (seed.quiet) moments.kills += struck;
    const again = `npm run checker -- --seed ${SEED} --only ${String(seed.number)}`;
    console.log(`${what}: ${String(struck)} faults, ${String(ms)} ms, ${JSON.stringify(counts)}`);
    if (environmentValue('RUN_TIMELINE') !== undefined) console.log(output);
    if (wrong.length > 0) console.error(`${again}\n${wrong.join('\n')}\n${output}`);
    own.soft(wrong, again).toEqual([]);
    if (calm === null) return;
    own.soft(calm.wrong, again).toEqual([]);
    own.soft(counts, `as if nothing had broken: ${again}`).toEqual(calm.counts);
  };
  const seeds = numbers.map((one) => drawSeed(SEED, one));
  const named = (some: Seed[]) => some.map((seed) => [describeSeed(seed), seed] as const);

  describe(`runs of ${SEED} that need the lane`, () => {
    it.for(named(seeds.filter((seed) => !isApart(seed))))('%s', ([what, seed], context) => check(what, seed, context.expect));
  });

  // Two at a time: they wait for much, most of all for leases to end.
  describe.concurrent(`runs of ${SEED}`, () => {
    it.for(named(seeds.filter(isApart)))('%s', ([what, seed], context) => check(what, seed, context.expect));
  });

  it.runIf(ONLY === undefined)('were killed or stopped often enough', () => {
    const quiet = seeds.filter((seed) => seed.quiet).length;
    console.log(`${String(moments.kills)} kills and stops in ${String(quiet)} quiet runs`);
    expect(moments.kills).toBeGreaterThanOrEqual(quiet * 4);
  });
}
