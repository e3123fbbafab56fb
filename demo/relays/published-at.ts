import { PostgresRelay } from './postgres-relay';
import { describe, type Relay, type RelayOptions } from './relay';

export interface PublishedAtRelayOptions extends RelayOptions {
  /** Milliseconds of rest after each batch. */
  idleMs?: number;
  batch?: number;
  /** Moves a row to the dead-letter table at this attempt; `null` never does, as in the code the design shows. */
  maxAttempts?: number | null;
  table?: string;
  deadTable?: string;
}

interface Row {
  id: string;
  event_type: string;
  dedup_key: string | null;
  payload: unknown;
}

const EVENT_COLUMNS = 'id, aggregate_type, aggregate_id, event_type, payload, headers, dedup_key, created_at, published_at, attempt';

/**
 * The relay of the order service that publishes to Kafka: locks a batch with SKIP LOCKED and commits before it
 * publishes, so the locks protect nothing. No back-off: a failing row is in every batch.
 */
export function startRelay(options: PublishedAtRelayOptions): Relay {
  const { idleMs = 300, batch = 100, maxAttempts = 10, table = 'outbox_events', deadTable = 'outbox_dead' } = options;
  const body = new PostgresRelay(options);

  async function fail(row: Row, error: unknown): Promise<void> {
    const { rows } = await body.query<{ attempt: number }>(
      `UPDATE ${table} SET attempt = attempt + 1 WHERE id = $1 AND published_at IS NULL RETURNING attempt`,
      [row.id],
    );
    const attempt = rows[0]?.attempt;
    if (attempt === undefined || maxAttempts === null || attempt < maxAttempts) return;
    await body.query(
      `WITH gone AS (DELETE FROM ${table} WHERE id = $1 AND published_at IS NULL AND attempt >= $3 RETURNING ${EVENT_COLUMNS})
       INSERT INTO ${deadTable} (${EVENT_COLUMNS}, died_at, last_error) SELECT ${EVENT_COLUMNS}, now(), $2 FROM gone`,
      [row.id, describe(error), maxAttempts],
    );
  }

  body.every(idleMs, async () => {
    const rows = await body.transaction(async (client) => {
      const taken = await client.query<Row>(
        `SELECT id, event_type, dedup_key, payload FROM ${table} WHERE published_at IS NULL ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
        [batch],
      );
      return taken.rows;
    });
    for (const row of rows) {
      if (!body.running) return;
      try {
        await body.publish({ id: row.id, type: row.event_type, dedupKey: row.dedup_key, body: JSON.stringify(row.payload) });
      } catch (error) {
        await fail(row, error);
        continue;
      }
      await body.query(`UPDATE ${table} SET published_at = now() WHERE id = $1`, [row.id]);
    }
  });
  return body;
}
