import pg from 'pg';
import { PostgresRelay } from './postgres-relay';
import { describe, type Relay, type RelayOptions } from './relay';

export interface ListenRelayOptions extends RelayOptions {
  channel?: string;
  /** Rows of the backlog that are read once, at the start. */
  backlog?: number;
  maxAttempts?: number;
  /** Event types with a handler; rows of another type stay as they are, silently. Default: every type. */
  handles?: readonly string[];
  table?: string;
  deadTable?: string;
}

export interface ListenRelay extends Relay {
  /** Resolves when it listens and has read its backlog. */
  listening: Promise<void>;
}

interface Row {
  id: string;
  event_type: string;
  payload: unknown;
  retry_count: number;
}

const EVENT_COLUMNS = 'id, aggregate_type, aggregate_id, event_type, payload, created_at, processed_at, retry_count, last_error';

/**
 * The relay that sends to Kafka and by e-mail: woken by the trigger's NOTIFY with the id, one backlog at its start, and
 * no polling, so a failed row waits for a restart. Its FOR UPDATE runs outside a transaction and locks nothing.
 */
export function startRelay(options: ListenRelayOptions): ListenRelay {
  const { channel = 'outbox_events', backlog = 100, maxAttempts = 5, handles, table = 'outbox', deadTable = 'outbox_dead' } = options;
  const body = new PostgresRelay(options);
  const listener = new pg.Client({ connectionString: options.connectionString, application_name: `relay ${options.outbox} listener` });

  async function fail(row: Row, error: unknown): Promise<void> {
    // The limit is looked at before the count rises: the sixth failure moves the row, with a count of five.
    if (row.retry_count < maxAttempts) {
      await body.query(`UPDATE ${table} SET retry_count = retry_count + 1, last_error = $2 WHERE id = $1`, [row.id, describe(error)]);
      return;
    }
    await body.query(
      `WITH gone AS (DELETE FROM ${table} WHERE id = $1 AND processed_at IS NULL RETURNING ${EVENT_COLUMNS})
       INSERT INTO ${deadTable} (${EVENT_COLUMNS}, died_at)
       SELECT id, aggregate_type, aggregate_id, event_type, payload, created_at, processed_at, retry_count, $2, now() FROM gone`,
      [row.id, describe(error)],
    );
  }

  async function handle(id: string): Promise<void> {
    const { rows } = await body.query<Row>(
      `SELECT id, event_type, payload, retry_count FROM ${table} WHERE id = $1 AND processed_at IS NULL FOR UPDATE SKIP LOCKED`,
      [id],
    );
    const row = rows[0];
    if (row === undefined) return;
    if (handles !== undefined && !handles.includes(row.event_type)) return;
    try {
      await body.publish({ id: row.id, type: row.event_type, dedupKey: row.id, body: JSON.stringify(row.payload) });
    } catch (error) {
      await fail(row, error);
      return;
    }
    await body.query(`UPDATE ${table} SET processed_at = now() WHERE id = $1`, [row.id]);
  }

  async function begin(): Promise<string[]> {
    body.watch(listener);
    await listener.connect();
    listener.on('notification', ({ payload }) => {
      // Ids only; what somebody else sends over the channel is nobody's event.
      if (body.running && payload !== undefined && /^[0-9a-f-]{36}$/.test(payload)) body.during(() => handle(payload));
    });
    await listener.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    const { rows } = await body.query<{ id: string }>(`SELECT id FROM ${table} WHERE processed_at IS NULL ORDER BY created_at LIMIT $1`, [
      backlog,
    ]);
    return rows.map(({ id }) => id);
  }

  const begun = begin();
  const listening = begun.then(() => undefined);
  // Whoever waits for it hears of a failure; nobody has to wait.
  listening.catch(() => undefined);
  body.during(async () => {
    for (const id of await begun) if (body.running) await handle(id);
  });

  return {
    listening,
    async stop() {
      await body.stop();
      await listener.end();
    },
    kill: () => body.kill(),
    get alive() {
      return body.alive;
    },
  };
}
