import { withConnection } from '../database/engine';

/** An order as the shop's own page knows it. */
export interface HostOrder {
  id: string;
  customer: string;
  items: number;
  total: string;
  status: string;
}

const ORDERS_MAX = 7;

/**
 * Some orders of the service behind `orders-kafka`, from its own database: first one that an event died of, then those of the newest events.
 * Its primary keys and the index on aggregates serve it; `outbox_dead` has few rows.
 */
export async function ordersOf(databaseUrl: string): Promise<HostOrder[]> {
  return withConnection(databaseUrl, async (connection) => {
    const { rows } = await connection.query<HostOrder & { at: Date }>(
      `WITH dead AS (SELECT aggregate_id, event_type, payload, died_at AS at FROM outbox_dead ORDER BY died_at DESC LIMIT 2),
            newest AS (SELECT aggregate_id, event_type, payload, created_at AS at FROM outbox_events
                       WHERE created_at > now() - interval '1 hour' ORDER BY created_at DESC LIMIT 60)
       SELECT DISTINCT ON (aggregate_id) aggregate_id AS id, payload->'customer'->>'name' AS customer, (payload->>'items')::int AS items,
              (payload->>'amount') || ' ' || (payload->>'currency') AS total, split_part(event_type, '.', 2) AS status, of.place, of.at
       FROM (SELECT 0 AS place, * FROM dead UNION ALL SELECT 1, * FROM newest) AS of ORDER BY aggregate_id, of.place, of.at DESC`,
    );
    const order = (one: HostOrder & { place?: number; at: Date }) => (one.place ?? 0) * 1e15 - one.at.getTime();
    return rows.sort((a, b) => order(a) - order(b)).slice(0, ORDERS_MAX);
  });
}
