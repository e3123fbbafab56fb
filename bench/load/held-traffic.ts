/**
 * Services that publish in the ways that make counting hard: a tenth of the transactions stay open for up to six seconds, a
 * third work in savepoints, half of those take one back. The time of publishing is the transaction's.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export const WRITERS = 16;
const HELD_SHARE = 0.1;
const HELD_MOST_MS = 6_000;
const TYPES = 7;

export interface HeldTraffic {
  stop(): Promise<void>;
}

export function startHeldTraffic(url: string): HeldTraffic {
  const pool = new pg.Pool({ connectionString: url, max: WRITERS, application_name: 'service', connectionTimeoutMillis: 2_000 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const state = { running: true, number: 0 };
  const writer = async (): Promise<void> => {
    while (state.running) {
      // A server that is away is waited for; whether the last event was published is for the table to say.
      await publish(pool, (state.number += 1)).catch(() => sleep(200));
      await sleep(20 + Math.random() * 60);
    }
  };
  const writers = Array.from({ length: WRITERS }, writer);
  return {
    async stop() {
      state.running = false;
      await Promise.all(writers);
      await pool.end();
    },
  };
}

async function publish(pool: pg.Pool, number: number): Promise<void> {
  const client = await pool.connect();
  let broken = true;
  try {
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload) VALUES (gen_random_uuid(), 'order', 'order-1', $1, '{}') RETURNING id`,
      [`type.${number % TYPES}`],
    );
    const update = `UPDATE outbox_events SET published_at = now() WHERE id = '${rows[0]?.id ?? ''}'`;
    await client.query('BEGIN');
    if (number % 3 === 0) {
      await client.query('SAVEPOINT tried');
      await client.query(update);
      await client.query(number % 2 === 0 ? 'RELEASE SAVEPOINT tried' : 'ROLLBACK TO SAVEPOINT tried');
    }
    await client.query(update);
    if (Math.random() < HELD_SHARE) await sleep(Math.random() * HELD_MOST_MS);
    await client.query('COMMIT');
    broken = false;
  } finally {
    client.release(broken);
  }
}
