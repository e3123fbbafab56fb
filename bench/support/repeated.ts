/** How often a read is measured. */
export const RUNS = 5;
/** A read that takes this long is measured once. */
const SLOW_MS = 500;

/** The answers of several runs of `work`; the first, which warms connection and memory, is not among them. */
export async function repeated<T>(work: () => Promise<T>): Promise<T[]> {
  const begun = Date.now();
  await work();
  const times = Date.now() - begun > SLOW_MS ? 1 : RUNS;
  const runs: T[] = [];
  for (let run = 0; run < times; run += 1) runs.push(await work());
  return runs;
}
