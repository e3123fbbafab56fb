/** All that the collector ever asks a table, for tests that only want to know whether it can, and what it is told. */
import type { Outbox } from '@/lib/outbox/outbox';
import { countByMinute, readCells, steerTo, type FoldedGroup } from '../fold-sql';
import { microsOf } from '../instants';
import { chooseMethod, sizeOf, type Choice } from '../method';
import { OBSERVERS } from '../observer-list';
import { oldestPublished } from '../oldest';
import { readPastAttempts } from '../past-attempts';

export interface Told {
  method: Choice['method'];
  /** Published events by type, minute and bucket, as texts in order. */
  groups: string[];
  byMinute: [number, number][];
  oldest: number | null;
  attempts: string[];
  /** Rows that each observer read. */
  observed: Record<string, number>;
}

/** What of a cell goes into the books. */
function countedText({ kind, ...group }: FoldedGroup): string[] {
  if (kind === 'latency') return [JSON.stringify({ kind, ...group })];
  const { published, type, processingBucket, events } = group;
  return processingBucket === null ? [] : [JSON.stringify({ kind, published, type, processingBucket, events })];
}

/** What was published since 2020, and one more look of each observer. Throws DatabaseFailure. */
export async function askEverything(outbox: Outbox, memories: Map<string, { at: string; memory: unknown }>): Promise<Told> {
  const { engine } = outbox.database;
  const told = await outbox.database.read(async (db) => {
    const choice = chooseMethod(outbox, await sizeOf(db, outbox));
    const { at } = await engine.transactions(db);
    const span = { from: microsOf('2020-01-01T00:00:00.000000Z'), to: microsOf(at) };
    const { access } = choice;
    if (access === null) return { choice, groups: [], byMinute: [], oldest: null, attempts: [] };
    await steerTo(db, outbox, access);
    const groups = [...(await readCells(db, outbox, span, 1, 'tried')), ...(await readCells(db, outbox, span, 60))];
    return {
      choice,
      groups: groups.flatMap(countedText).sort(),
      byMinute: [...(await countByMinute(db, outbox, span))].sort(([a], [b]) => a - b),
      oldest: await oldestPublished(db, outbox, access, span),
      attempts: (await readPastAttempts(db, outbox, span, 1)).map((one) => JSON.stringify(one)).sort(),
    };
  });
  const observed: Record<string, number> = {};
  for (const observer of OBSERVERS) {
    if (!observer.wants(outbox, told.choice.method)) continue;
    const before = memories.get(observer.key);
    await outbox.database.read(async (db) => {
      await engine.byIndex(db, { memory: true });
      const { at } = await engine.transactions(db);
      const memory = before === undefined ? null : JSON.parse(JSON.stringify(before.memory));
      const seen = await observer.look({ outbox, db, at, previousAt: before?.at ?? null, memory, tried: null });
      memories.set(observer.key, { at, memory: seen.memory });
      observed[observer.key] = seen.rows;
    });
  }
  const { choice, ...rest } = told;
  return { method: choice.method, ...rest, observed };
}
