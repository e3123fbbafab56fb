/** `npm run checker -- --seeds 300 --seed friday`: more of the runs that `npm test` has fifty of; `--only 17` is that one again, told in full. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { Command } from 'commander';
import { environmentFor } from '@/demo/env';
import { ensureMariadb } from './testing/mariadb-binaries';

const { seeds, seed, only } = new Command('checker')
  .description('Carries plans out while everything breaks around the processes that do it, and judges what became of every event')
  .option('--seeds <count>', 'how many', '300')
  .option('--seed <text>', 'what they are drawn from', 'runs')
  .option('--only <number>', 'the one with this number')
  .parse()
  .opts<{ seeds: string; seed: string; only?: string }>();

ensureMariadb();
const { status } = spawnSync(
  path.join('node_modules', '.bin', 'vitest'),
  ['run', '--project', 'race', 'e2e/runs/first-lane', 'e2e/runs/second-lane'],
  {
    cwd: path.resolve(import.meta.dirname, '..'),
    stdio: 'inherit',
    env: environmentFor({ RUN_SEEDS: seeds, RUN_SEED: seed, ...(only === undefined ? {} : { RUN_ONLY: only, RUN_TIMELINE: 'yes' }) }),
  },
);
process.exitCode = status ?? 1;
