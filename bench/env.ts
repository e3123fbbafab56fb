/** The benchmarks' environment, read in this one place. */
import os from 'node:os';
import path from 'node:path';

export interface BenchEnvironment {
  root: string;
  /** Where databases are made, and deleted again: ten million rows of one table take 6 GB. */
  dir: string;
}

export function readBenchEnvironment(source: Record<string, string | undefined> = process.env): BenchEnvironment {
  const input = source.OUTBOX_BENCH_DIR?.trim();
  return { root: path.resolve(import.meta.dirname, '..'), dir: input ? path.resolve(input) : os.tmpdir() };
}

/** The environment for a program a benchmark starts: ours, with `changes` on top. */
export function environmentFor(changes: Record<string, string>): NodeJS.ProcessEnv {
  return { ...process.env, ...changes };
}
