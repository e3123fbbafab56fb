/** Services that publish while collectors are tried, and a comparison of the books with the table they tell of. */
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';
import type { EngineKey } from '@/lib/shared/model';
import { ALL_TYPES, seriesOfType } from '@/lib/rollup/series-key';
import { emptyCell } from '@/lib/rollup/cell';
import { eventually, ORDERS, type Stage } from './stage';

/** One connection of a service; a statement that fails because the server ended the connection says so. */
interface Client {
  query(text: string): Promise<unknown>;
  give(broken: boolean): void;
}

interface Connections {
  take(): Promise<Client>;
  end(): Promise<unknown>;
}

const CONNECT: Record<EngineKey, (url: string) => Connections> = {
  postgres(url) {
    const pool = new pg.Pool({ connectionString: url, max: 24 });
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    return {
      async take() {
        const client = await pool.connect();
        return { query: (text) => client.query(text), give: (broken) => client.release(broken) };
      },
      end: () => pool.end(),
    };
  },
  mysql(url) {
    const pool = mysql.createPool({ uri: url, connectionLimit: 24, timezone: 'Z', connectAttributes: { program_name: 'service' } });
    return {
      async take() {
        const client = await pool.getConnection();
        return { query: (text) => client.query(text), give: (broken) => (broken ? client.destroy() : client.release()) };
      },
      end: () => pool.end(),
    };
  },
};

const ENDED = /terminat|connection|killed|interrupted|closed state/i;

export interface Publishers {
  /** Publishes until told to stop, sixteen at a time, every tenth transaction held for up to so long. */
  traffic(mostHeldMs: number): { stop(): Promise<void> };
  /** Resolves when the books have what the table has, by minute of publishing and by type, and all of it created. */
  booksMatch(patienceMs: number): Promise<void>;
}

/** Call once at the top of a test file that has a stage with the orders of this engine. */
export function usePublishers(engine: EngineKey, stage: Stage): Publishers {
  const { observed, totals } = stage;
  const { table, outbox } = ORDERS[engine];
  const [now, minute] =
    engine === 'postgres'
      ? ['now()', `floor(extract(epoch from published_at) / 60)::int`]
      : ['utc_timestamp(6)', `cast(floor(unix_timestamp(published_at) / 60) as signed)`];
  const insert =
    engine === 'postgres'
      ? `(id, aggregate_type, aggregate_id, event_type, payload) values ('ID', 'a', 'a', 'TYPE', '{}')`
      : `(id, event_type, payload) values ('ID', 'TYPE', '{}')`;
  let connections: Connections;
  beforeAll(() => void (connections = CONNECT[engine](observed.url)));
  afterAll(() => connections.end());

  /** Publishes one event as services do: some transactions stay open, some work in savepoints, some take one back. */
  async function publishOne(number: number, heldMs: number): Promise<void> {
    let client: Client | null = null;
    let broken = false;
    try {
      client = await connections.take();
      const id = crypto.randomUUID();
      await client.query(`insert into ${table} ${insert.replace('ID', id).replace('TYPE', `type ${String(number % 3)}`)}`);
      await client.query('begin');
      const update = `update ${table} set published_at = ${now} where id = '${id}'`;
      if (number % 3 === 0) {
        await client.query('savepoint s');
        await client.query(update);
        await client.query(number % 2 === 0 ? 'release savepoint s' : 'rollback to savepoint s');
      }
      await client.query(update);
      if (heldMs > 0) await sleep(heldMs);
      await client.query('commit');
    } catch (error) {
      // The server ended the connection: whether it is published is for the table to say.
      broken = true;
      if (!(error instanceof Error) || !ENDED.test(error.message)) throw error;
    } finally {
      client?.give(broken);
    }
  }

  /** What the table has and the books have, by minute of publishing, type and minute of creation. */
  async function compare(): Promise<{ table: unknown; books: unknown }> {
    const numbers = (rows: { of: unknown; n: unknown }[]): [string, number][] => rows.map(({ of, n }) => [String(of), Number(n)]);
    const counted = (of: string): Promise<{ of: unknown; n: unknown }[]> =>
      observed.query(`select ${of} as "of", count(*) as n from ${table} where published_at is not null group by 1`.replaceAll('"', quote));
    const quote = engine === 'postgres' ? '"' : '`';
    const rows = numbers(await counted(minute)).map(([of, n]): [number, number] => [Number(of), n]);
    const types = numbers(await counted('event_type'));
    const series = await totals(outbox.id);
    const line = await stage.minutes(outbox.id, Math.min(...rows.map(([of]) => of)) - 5, Math.floor(Date.now() / 60_000) + 1);
    const published = (of: string): number => (series.get(of) ?? emptyCell()).published;
    const total = rows.reduce((sum, [, n]) => sum + n, 0);
    return {
      table: { minutes: new Map(rows), types: types.sort(), created: total, latencies: total },
      books: {
        minutes: new Map([...line].filter(([, { cell }]) => cell.published > 0).map(([at, { cell }]) => [at, cell.published])),
        types: types.map(([type]) => [type, published(seriesOfType(type))]).sort(),
        created: series.get(ALL_TYPES)?.created,
        latencies: [...(series.get(ALL_TYPES)?.latency.values() ?? [])].reduce((sum, n) => sum + n, 0),
      },
    };
  }

  return {
    traffic(mostHeldMs) {
      const state = { running: true, number: 0 };
      const writer = async (): Promise<void> => {
        while (state.running) {
          const number = (state.number += 1);
          await publishOne(number, number % 10 === 0 ? Math.random() * mostHeldMs : 0);
          await sleep(20 + Math.random() * 40);
        }
      };
      const writers = Array.from({ length: 16 }, writer);
      return {
        async stop() {
          state.running = false;
          await Promise.all(writers);
        },
      };
    },
    booksMatch: (patienceMs) =>
      eventually(async () => {
        const { table: inTable, books } = await compare();
        expect(books).toEqual(inTable);
      }, patienceMs),
  };
}
