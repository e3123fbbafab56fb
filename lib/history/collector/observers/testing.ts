/** Runs an observer as the collector does, for this room's tests. */
import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { Additions } from '@/lib/rollup/additions';
import { ALL_TYPES } from '@/lib/rollup/series-key';
import { addCell, emptyCell, type Cell } from '@/lib/rollup/cell';
import type { Observer } from '../observer';

export interface Watch {
  /** One look, as if it were `laterMs` later than it is. */
  look(laterMs?: number): Promise<void>;
  /** Looks every `everyMs` until the function answered is called. */
  keepLooking(everyMs: number): () => Promise<void>;
  /** Everything counted so far, of one series or of all types. */
  sum(series?: string): Cell;
  readonly additions: Additions;
  readonly memory: unknown;
}

export function watch(directory: OutboxDirectory, id: string, observer: Observer): Watch {
  const additions: Additions = new Map();
  let memory: unknown = null;
  let previousAt: string | null = null;

  let turn: Promise<void> = Promise.resolve();
  // One after the other, as a collector's: each goes on from what the one before remembered.
  const look = (laterMs = 0): Promise<void> => (turn = turn.then(() => lookOnce(laterMs)));

  async function lookOnce(laterMs: number): Promise<void> {
    const outbox = await directory.get(id);
    const seen = await outbox.database.read(async (db: Db) => {
      const { engine } = outbox.database;
      await engine.byIndex(db, { memory: true });
      const { rows } = await sql<{ at: string }>`select ${engine.fragments.nowIso()} as at`.execute(db);
      const at = new Date(Date.parse(rows[0]?.at ?? '') + laterMs).toISOString();
      const answer = await observer.look({ outbox, db, at, previousAt, memory, tried: null });
      previousAt = at;
      return answer;
    });
    memory = JSON.parse(JSON.stringify(seen.memory));
    for (const [minute, series] of seen.additions) {
      const there = additions.get(minute) ?? new Map<string, Cell>();
      additions.set(minute, there);
      for (const [name, cell] of series) {
        const sum = there.get(name) ?? emptyCell();
        addCell(sum, cell);
        there.set(name, sum);
      }
    }
  }

  return {
    look,
    keepLooking(everyMs) {
      let ended = false;
      const looking = (async () => {
        while (!ended) {
          const next = Date.now() + everyMs * (0.75 + Math.random() / 2);
          await look();
          await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - Date.now())));
        }
      })();
      return async () => {
        ended = true;
        await looking;
      };
    },
    sum(series = ALL_TYPES) {
      const sum = emptyCell();
      for (const [, minute] of [...additions].sort(([a], [b]) => a - b)) {
        const cell = minute.get(series);
        if (cell !== undefined) addCell(sum, cell);
      }
      return sum;
    },
    additions,
    get memory() {
      return memory;
    },
  };
}
