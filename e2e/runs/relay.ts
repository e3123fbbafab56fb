/** A simulated relay: it publishes what waits, lets some events fail as the seed says, and holds rows now and then. */
import { serviceEngineFor } from '@/demo/database/engine';
import type { OpenConnection } from '@/demo/database/service';
import type { Random } from '@/demo/random';
import { among, EARLIER_ERROR, OTHER_ERROR, type Kind } from './kinds';

/** How often an event fails before it is out; `dies`: it is dead after that, `other`: of an error it never had. */
export interface Failure {
  times: number;
  dies: boolean;
  other: boolean;
}

export interface RelayOptions {
  kind: Kind;
  url: string;
  hand: Random;
  failures: ReadonlyMap<string, Failure>;
  /** Planted rows that wait and that it has no eyes for, or the run would find nothing. */
  ignored: ReadonlySet<string>;
  /** Nobody but the run moves anything. */
  quiet: boolean;
  over: () => boolean;
}

const EVERY_MS = 20;

/** Works until it is over; a lost connection is opened again. */
export async function relay(options: RelayOptions): Promise<void> {
  await connected(options, async (db, tick) => {
    const { kind, hand, ignored, quiet } = options;
    const [table] = kind.tables;
    const waiting = await idsOf(db, `SELECT id FROM ${table} WHERE ${kind.fresh} LIMIT 500`);
    const late =
      quiet || kind.late === null || !hand.chance(0.05)
        ? []
        : (await idsOf(db, `SELECT id FROM ${table} WHERE ${kind.late} LIMIT 20`)).slice(0, 1);
    await send(options, db, [...waiting.filter((id) => !ignored.has(id)), ...late], tick);
  });
}

/** What each failure has come to; of a process that is ended with the seed. */
const failed = new WeakMap<RelayOptions['failures'], Map<string, number>>();

async function send({ kind, failures }: RelayOptions, db: OpenConnection, ids: string[], _tick: number): Promise<void> {
  const counts = failed.get(failures) ?? new Map<string, number>();
  failed.set(failures, counts);
  const [table] = kind.tables;
  const waits = kind.late === null ? kind.fresh : `(${kind.fresh} OR ${kind.late})`;
  const isFailing = (id: string): boolean => kind.fails !== null && (failures.get(id)?.times ?? 0) > (counts.get(id) ?? 0);
  const out = ids.filter((id) => !isFailing(id));
  if (out.length > 0) await db.query(`UPDATE ${table} SET ${kind.out} WHERE ${among(out)} AND ${waits}`);
  for (const id of ids.filter(isFailing)) {
    const { times = 0, dies = false, other = false } = failures.get(id) ?? {};
    counts.set(id, (counts.get(id) ?? 0) + 1);
    const last = dies && counts.get(id) === times;
    const { set = '', move = null } = kind.fails?.(other ? OTHER_ERROR : EARLIER_ERROR, last) ?? {};
    await db.query('BEGIN');
    await db.query(`UPDATE ${table} SET ${set} WHERE ${among([id])} AND ${waits}`);
    if (last && move !== null)
      await db.query(
        `WITH moved AS (DELETE FROM ${table} WHERE ${among([id])} AND ${waits} RETURNING *) INSERT INTO ${kind.tables[1] ?? ''} SELECT ${move} FROM moved`,
      );
    await db.query('COMMIT');
  }
}

/** Somebody who holds a few rows for a moment, again and again. */
export async function holder(options: RelayOptions, planted: readonly string[]): Promise<void> {
  const { kind, hand } = options;
  await connected(options, async (db) => {
    const table = kind.tables[hand.int(0, kind.tables.length - 1)] ?? kind.tables[0];
    const some = Array.from({ length: 3 }, () => planted[hand.int(0, planted.length - 1)] ?? '');
    await db.query('BEGIN');
    await db.query(`SELECT id FROM ${table} WHERE ${among(some)} FOR UPDATE SKIP LOCKED`);
    await sleep(hand.int(20, 250));
    await db.query('ROLLBACK');
    await sleep(hand.int(50, 200));
  });
}

async function connected({ url, over }: RelayOptions, turn: (db: OpenConnection, tick: number) => Promise<void>): Promise<void> {
  let db: OpenConnection | null = null;
  for (let tick = 0; !over(); tick += 1) {
    try {
      db ??= await serviceEngineFor(url).open(url);
      await turn(db, tick);
    } catch {
      await end(db);
      db = null;
      await sleep(50);
    }
    await sleep(EVERY_MS);
  }
  await end(db);
}

/** A connection that was lost may not answer to that either. */
export const end = (db: OpenConnection | null): Promise<void> =>
  Promise.race([db?.end().catch(() => undefined) ?? Promise.resolve(), sleep(1_000)]);

const idsOf = async (db: OpenConnection, text: string): Promise<string[]> =>
  (await db.query<{ id: string }>(text)).rows.map(({ id }) => String(id));

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
