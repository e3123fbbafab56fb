import { engineForUrl } from '@/lib/database/engines';
import { SERVICE_ENGINES } from '../database/engine';
import { MysqlRelay } from './mysql-relay';
import { PostgresRelay } from './postgres-relay';
import { describe, type Relay, type RelayOptions } from './relay';

export interface WorkerRelayOptions extends RelayOptions {
  /** Milliseconds between two rounds, after one that leaves nothing behind or sent nothing. */
  intervalMs?: number;
  batch?: number;
  /** Whether the table has the column that the recovery job reads. */
  withUpdatedAt?: boolean;
  /** Milliseconds between two runs of the recovery job, and the age it frees rows at; `null` runs none. */
  recoverEveryMs?: number | null;
  recoverAfterMs?: number;
  table?: string;
}

interface Row {
  id: string;
  event_type: string;
  payload: string;
}

const RELAYS = { postgres: PostgresRelay, mysql: MysqlRelay };

/**
 * The worker of the order service that sends to SQS, on either engine: takes pending rows oldest first, each by a
 * conditional UPDATE, then sends. A failed row is pending again at once, for ever. Success and failure change a row only
 * while it is PROCESSING: one that was released meanwhile is whoever's took it next.
 */
export function startRelay(options: WorkerRelayOptions): Relay {
  const {
    intervalMs = 1_000,
    batch = 10,
    withUpdatedAt = true,
    recoverEveryMs = 300_000,
    recoverAfterMs = 300_000,
    table = 'outbox_events',
  } = options;
  const { key } = engineForUrl(options.connectionString);
  const { now, before } = SERVICE_ENGINES[key];
  const body = new RELAYS[key](options);
  const touched = withUpdatedAt ? `, updated_at = ${now}` : '';

  async function round(): Promise<boolean> {
    const { rows } = await body.query<Row>(
      `SELECT id, event_type, payload FROM ${table} WHERE status = 'PENDING' ORDER BY created_at, id LIMIT $1`,
      [batch],
    );
    const claimed: Row[] = [];
    for (const row of rows) {
      const won = await body.query(`UPDATE ${table} SET status = 'PROCESSING'${touched} WHERE id = $1 AND status = 'PENDING'`, [row.id]);
      if (won.rowCount === 1) claimed.push(row);
    }
    let sent = 0;
    for (const row of claimed) {
      try {
        // The queue's deduplication id is the row's id.
        await body.publish({ id: row.id, type: row.event_type, dedupKey: row.id, body: row.payload });
      } catch (error) {
        body.log(`event ${row.id}: ${describe(error)}`);
        await body.query(`UPDATE ${table} SET status = 'PENDING'${touched} WHERE id = $1 AND status = 'PROCESSING'`, [row.id]);
        continue;
      }
      sent += 1;
      await body.query(
        `UPDATE ${table} SET status = 'PROCESSED', processed_at = ${now}${touched} WHERE id = $1 AND status = 'PROCESSING'`,
        [row.id],
      );
    }
    // A full batch that was its own and of which nothing went out would be tried again at once, for ever.
    return rows.length === batch && (sent > 0 || claimed.length < batch);
  }

  /** Without `updated_at` this fails every time, and says so in a log that nobody reads. */
  async function recover(): Promise<void> {
    await body.pause(recoverEveryMs ?? 0);
    if (!body.running) return;
    await body.query(
      `UPDATE ${table} SET status = 'PENDING', updated_at = ${now} WHERE status = 'PROCESSING' AND processed_at IS NULL AND updated_at < ${before('$1')}`,
      [recoverAfterMs],
    );
  }

  body.every(intervalMs, round);
  if (recoverEveryMs !== null) body.every(0, recover);
  return body;
}
