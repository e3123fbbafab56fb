/** Healthy traffic that comes in bursts: as many as the relay works off in a while, at once or over a few seconds. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '@/demo/random';

type Query = (outbox: string, text: string, values?: unknown[]) => Promise<unknown>;

/** Inserts `$2` events of a known type, each an event of its own order. */
const INSERTS: Record<string, { text: string; type: string; most: number }> = {
  escrow: {
    text: `INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, payload)
      SELECT u, u::text, $1, 'burst-' || u, '{}' FROM (SELECT gen_random_uuid() AS u FROM generate_series(1, $2::int)) AS new`,
    type: 'ad_create',
    most: 150,
  },
  'orders-sqs': {
    text: `INSERT INTO outbox_events (event_type, payload, created_at) SELECT $1, '{}', now() AT TIME ZONE 'UTC' FROM generate_series(1, $2::int)`,
    type: 'order.paid',
    most: 150,
  },
  'orders-kafka': {
    text: `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload)
      SELECT u, 'order', 'burst-' || u, $1, '{}' FROM (SELECT gen_random_uuid() AS u FROM generate_series(1, $2::int)) AS new`,
    type: 'order.paid',
    most: 1_000,
  },
  'orders-redis': {
    text: `INSERT INTO outbox (id, event_type, payload, created_at) SELECT gen_random_uuid(), $1, '{}', now() AT TIME ZONE 'UTC' FROM generate_series(1, $2::int)`,
    type: 'order.created',
    most: 200,
  },
  notifications: {
    text: `INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload)
      SELECT u, 'order', 'burst-' || u, $1, '{}' FROM (SELECT gen_random_uuid() AS u FROM generate_series(1, $2::int)) AS new`,
    type: 'order.created',
    most: 400,
  },
};

/** Pours bursts into all of them for this long; answers how many events that were. */
export async function bursts(outboxes: readonly string[], query: Query, forMs: number): Promise<number> {
  const ends = Date.now() + forMs;
  const random = createRandom('bursts');
  const pour = async (outbox: string): Promise<number> => {
    const insert = INSERTS[outbox];
    const own = random.fork(outbox);
    if (insert === undefined) return 0;
    let poured = 0;
    while (Date.now() < ends) {
      await sleep(own.int(15_000, 60_000));
      const events = own.int(Math.ceil(insert.most / 4), insert.most);
      const seconds = own.pick([1, 1, 4, 10]);
      for (let second = 0; second < seconds; second += 1) {
        await query(outbox, insert.text, [insert.type, Math.ceil(events / seconds)]);
        await sleep(1_000);
      }
      poured += Math.ceil(events / seconds) * seconds;
    }
    return poured;
  };
  return (await Promise.all(outboxes.map(pour))).reduce((sum, poured) => sum + poured, 0);
}
