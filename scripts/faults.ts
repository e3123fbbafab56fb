/** `npm run faults -- --runs 60 --seed friday`: more of the fault runs that `npm test` has ten of; `--only 17` is that one again. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { Command } from 'commander';
import { environmentFor } from '@/demo/env';
import { ensureMariadb } from './testing/mariadb-binaries';

const { runs, seed, only } = new Command('faults')
  .description('Breaks everything around a production console while operators work, and judges what they were told')
  .option('--runs <count>', 'how many', '60')
  .option('--seed <text>', 'what the runs are drawn from', 'faults')
  .option('--only <number>', 'the one run with this number')
  .parse()
  .opts<{ runs: string; seed: string; only?: string }>();

ensureMariadb();
const { status } = spawnSync(path.join('node_modules', '.bin', 'vitest'), ['run', '--project', 'race', 'e2e/faults'], {
  cwd: path.resolve(import.meta.dirname, '..'),
  stdio: 'inherit',
  env: environmentFor({ FAULT_RUNS: runs, FAULT_SEED: seed, ...(only === undefined ? {} : { FAULT_ONLY: only }) }),
});
process.exitCode = status ?? 1;
