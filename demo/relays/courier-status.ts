import { PostgresRelay } from './postgres-relay';
import type { Relay, RelayOptions } from './relay';

export interface CourierRelayOptions extends RelayOptions {
  /** Milliseconds between two batches. */
  intervalMs?: number;
  batch?: number;
  table?: string;
}

interface Row {
  id: string;
  event_type: string;
  payload: unknown;
}

/**
 * The courier that publishes orders to Redis: one transaction around a batch and its publishing. One failure rolls the
 * whole batch back, rows that are already out included, and the next round begins with the same row.
 */
export function startRelay(options: CourierRelayOptions): Relay {
  const { intervalMs = 500, batch = 10, table = 'outbox' } = options;
  const body = new PostgresRelay(options);
  body.every(intervalMs, () =>
    body.transaction(async (client) => {
      const { rows } = await client.query<Row>(
        `SELECT id, event_type, payload FROM ${table} WHERE status = 'PENDING' ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
        [batch],
      );
      for (const row of rows) {
        await body.publish({ id: row.id, type: row.event_type, dedupKey: row.id, body: JSON.stringify(row.payload) });
        await client.query(`UPDATE ${table} SET status = 'PROCESSED' WHERE id = $1`, [row.id]);
      }
    }),
  );
  return body;
}
