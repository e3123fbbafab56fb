import type { Databases } from './support/databases';
import type { Outcome } from './support/report';
import type { BenchServer } from './support/server';

export interface Bench {
  name: string;
  /** One line for the list of benchmarks. */
  about: string;
  /** Table sizes when none is asked for. */
  rows: readonly number[];
  run(world: { server: BenchServer; databases: Databases; rows: readonly number[]; root: string; dir: string }): Promise<Outcome>;
}
