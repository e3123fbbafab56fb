/** The checker finds what it is for: each defect, built into the program that carries runs out, shows within twenty seeds. */
import path from 'node:path';
import { expect, it } from 'vitest';
import { bundleEngine, MUTANTS } from './bundle';
import { checkSeed } from './check-seed';
import { drawSeed } from './seed';
import { SEED, useLane } from './seeds';

const WITHIN = 20;

const { lane, folder } = useLane(2);

it.each(MUTANTS.map((mutant) => [mutant.key, mutant] as const))(`finds: %s, within ${String(WITHIN)} seeds`, async (key, mutant) => {
  const bundle = await bundleEngine(path.join(folder(), 'mutant.cjs'), mutant);
  let found: string[] = [];
  let number = 0;
  for (; number < WITHIN && found.length === 0; number += 1) {
    const { wrong } = await checkSeed(lane(), bundle, { ...drawSeed(SEED, number), name: `mutant-${String(number)}` });
    found = wrong;
  }
  console.log(`${key}: found by seed ${String(number - 1)}: ${found.slice(0, 3).join('; ')}`);
  expect(found).not.toEqual([]);
});
