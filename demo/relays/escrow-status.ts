import { PostgresRelay } from './postgres-relay';
import { describe, type Relay, type RelayOptions } from './relay';

export interface EscrowRelayOptions extends RelayOptions {
  /** Milliseconds between two rounds. */
  intervalMs?: number;
  maxAttempts?: number;
  table?: string;
}

export interface EscrowRelay extends Relay {
  /** An unexpected error has switched it off: the process lives, and publishes nothing any more. */
  readonly switchedOff: boolean;
}

interface Row {
  id: string;
  idempotency_key: string;
  transaction_type: string;
  payload: Record<string, unknown>;
  retry_count: number;
}

const GROUPS = ['ad', 'order'];
const BATCH = 10;

/**
 * The relay of the escrow service: every second up to ten rows per type group, each claimed by a conditional UPDATE
 * that also raises the counter. At its start it frees every processing row, whoever is working on it.
 */
export function startRelay(options: EscrowRelayOptions): EscrowRelay {
  const { intervalMs = 1_000, maxAttempts = 5, table = 'p2p.transaction_outbox' } = options;
  const body = new PostgresRelay(options);
  let busy = false;
  let switchedOff = false;

  /** True: done. False: the handler has nothing to say, and the row stays processing. Throws: the attempt failed. */
  async function handle(row: Row): Promise<boolean> {
    const publish = () =>
      body.publish({ id: row.id, type: row.transaction_type, dedupKey: row.idempotency_key, body: JSON.stringify(row.payload) });
    switch (row.transaction_type) {
      case 'ad_create':
      case 'ad_update':
      case 'ad_close':
      case 'order_create':
      case 'order_cancel':
        await publish();
        return true;
      case 'order_complete':
        // Nobody to release the escrow to: the handler answers false, and its caller has no branch for that.
        if (row.payload.releaseTo === null) return false;
        await publish();
        return true;
      default:
        return false;
    }
  }

  async function fail(row: Row, error: unknown): Promise<void> {
    const { rows } = await body.query<{ retry_count: number }>(`SELECT retry_count FROM ${table} WHERE id = $1`, [row.id]);
    // The row is expected to be there; when somebody has taken it away, this throws and the relay is off for good.
    const current = rows[0] as { retry_count: number };
    const status = current.retry_count >= maxAttempts ? 'failed' : 'pending';
    await body.query(`UPDATE ${table} SET status = $2, error_message = $3 WHERE id = $1`, [row.id, status, describe(error)]);
  }

  async function work(row: Row): Promise<void> {
    const claimed = await body.query(
      `UPDATE ${table} SET status = 'processing', retry_count = retry_count + 1, last_attempt_time = now() WHERE id = $1 AND status = 'pending'`,
      [row.id],
    );
    if (claimed.rowCount !== 1) return;
    let done: boolean;
    try {
      done = await handle(row);
    } catch (error) {
      await fail(row, error);
      return;
    }
    if (done) await body.query(`UPDATE ${table} SET status = 'processed', processed_time = now() WHERE id = $1`, [row.id]);
  }

  async function round(): Promise<void> {
    // The flag keeps rounds from overlapping. An error leaves it up: that is the switch.
    if (busy) return;
    busy = true;
    try {
      for (const group of GROUPS) {
        const { rows } = await body.query<Row>(
          `SELECT id, idempotency_key, transaction_type, payload, retry_count FROM ${table}
           WHERE status = 'pending' AND transaction_type LIKE $1 ORDER BY create_time LIMIT ${BATCH}`,
          [`${group}\\_%`],
        );
        for (const row of rows) if (body.running) await work(row);
      }
    } catch (error) {
      switchedOff = body.running;
      throw error;
    }
    busy = false;
  }

  body.during(async () => {
    await body.query(`UPDATE ${table} SET status = 'pending' WHERE status = 'processing'`);
    body.every(intervalMs, round);
  });

  return {
    stop: () => body.stop(),
    kill: () => body.kill(),
    get alive() {
      return body.alive;
    },
    get switchedOff() {
      return switchedOff;
    },
  };
}
