/** Every verdict's fault in the demo's world: how it is caused there, and how it is mended. demo/README.md tells it in words. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { SinkControl } from '@/demo/sink/client';
import type { Verdict } from '@/lib/shared/figures/verdicts';

export interface Hands {
  outbox: string;
  sink: SinkControl;
  /** One statement as superuser, in the outbox's database. */
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  /** False once the fault is to end. */
  going(): boolean;
}

export interface Fault {
  verdict: Verdict;
  outbox: string;
  how: string;
  /** Resolves when the fault is there; what goes on beside it ends with `going`. */
  cause(hands: Hands): Promise<void>;
  mend(hands: Hands): Promise<void>;
}

const KAFKA_INSERT = `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload)
  SELECT gen_random_uuid(), 'order', 'order-' || i, $1, '{}' FROM generate_series(1, $2::int) AS i`;
const SQS_INSERT = `INSERT INTO outbox_events (event_type, payload, created_at) SELECT $1, '{}', now() AT TIME ZONE 'UTC' FROM generate_series(1, $2::int)`;

/** The event that Redis never takes. */
const POISON = randomUUID();

/** Inserts `perSecond` events each second, until the fault is to end. */
function pour({ query, going }: Hands, insert: string, type: string, perSecond: number): void {
  void (async () => {
    while (going()) {
      await query(insert, [type, Math.round(perSecond / 4)]);
      await sleep(250);
    }
  })();
}

const stopRelay = (outbox: string): Fault => ({
  verdict: 'relay_stopped',
  outbox,
  how: 'its relay is stopped',
  cause: ({ sink }) => sink.setRelay(outbox, false),
  mend: ({ sink }) => sink.setRelay(outbox, true),
});

const refuse = (outbox: string, mode: 'refuse' | 'error' | 'timeout'): Fault => ({
  verdict: 'broker_refusing',
  outbox,
  how: `the sink answers every message of it with ${mode}`,
  cause: ({ sink }) => sink.setFault({ outbox, mode }),
  mend: async ({ sink, query }) => {
    await sink.setFault({ outbox, mode: 'none' });
    // What its relay has given up on waits for a restart.
    if (outbox !== 'notifications') return;
    await sink.setRelay(outbox, false);
    await query('DELETE FROM outbox WHERE processed_at IS NULL AND retry_count > 0');
    await sink.setRelay(outbox, true);
  },
});

/** By outbox those that follow one another; the outboxes go side by side. */
export const FAULTS: readonly Fault[] = [
  refuse('escrow', 'error'),
  stopRelay('escrow'),
  {
    verdict: 'no_handler',
    outbox: 'escrow',
    how: 'events of a type no handler takes are inserted',
    cause: async ({ query }) => {
      await query(`INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, payload)
        SELECT gen_random_uuid(), 'refund-' || i, 'refund_issue', 'order-' || i, '{}' FROM generate_series(1, 5) AS i`);
    },
    mend: async ({ query }) => void (await query("DELETE FROM p2p.transaction_outbox WHERE transaction_type = 'refund_issue'")),
  },
  {
    verdict: 'dead_growing',
    outbox: 'escrow',
    how: 'the sink errs on one type until its events are dead',
    cause: ({ sink }) => sink.setFault({ outbox: 'escrow', type: 'order_create', mode: 'error', message: 'ledger refused {eventId}' }),
    mend: ({ sink }) => sink.setFault({ outbox: 'escrow', type: 'order_create', mode: 'none' }),
  },
  refuse('orders-sqs', 'timeout'),
  stopRelay('orders-sqs'),
  {
    verdict: 'poison_row',
    outbox: 'orders-sqs',
    how: 'the sink errs on one event for ever; the others go out',
    cause: async ({ query, sink }) => {
      const [row] = await query<{ id: string }>(`${SQS_INSERT} RETURNING id`, ['order.paid', 1]);
      await sink.setFault({ outbox: 'orders-sqs', eventId: row?.id ?? '', mode: 'error' });
      // It may have gone out before the fault was there; put it back.
      await query("UPDATE outbox_events SET status = 'PENDING', processed_at = NULL WHERE id = $1", [row?.id]);
    },
    mend: ({ sink }) => sink.setFault({ outbox: 'orders-sqs', mode: 'none' }),
  },
  {
    verdict: 'stuck_processing',
    outbox: 'orders-sqs',
    how: 'a row is PROCESSING since four minutes, as a killed worker leaves it',
    cause: async ({ query }) =>
      void (await query(
        `INSERT INTO outbox_events (event_type, payload, status, created_at, updated_at) SELECT 'order.paid', '{}', 'PROCESSING', t, t FROM (SELECT now() AT TIME ZONE 'UTC' - interval '4 minutes' AS t)`,
      )),
    mend: async ({ query }) =>
      void (await query(
        "UPDATE outbox_events SET status = 'PENDING' WHERE status = 'PROCESSING' AND updated_at < now() AT TIME ZONE 'UTC' - interval '3 minutes'",
      )),
  },
  {
    verdict: 'falling_behind',
    outbox: 'orders-sqs',
    how: '200 events a second come in, more than its worker can send',
    cause: (hands) => Promise.resolve(pour(hands, SQS_INSERT, 'order.paid', 200)),
    mend: () => Promise.resolve(),
  },
  refuse('orders-kafka', 'refuse'),
  stopRelay('orders-kafka'),
  {
    verdict: 'starved',
    outbox: 'orders-kafka',
    how: '150 events of one type come in at once, and the sink errs on that type, slowly',
    cause: async ({ query, sink }) => {
      await sink.setFault({ outbox: 'orders-kafka', type: 'catalogue.imported', mode: 'error', delayMs: 80 });
      await query(KAFKA_INSERT, ['catalogue.imported', 150]);
    },
    mend: ({ sink }) => sink.setFault({ outbox: 'orders-kafka', mode: 'none' }),
  },
  {
    verdict: 'falling_behind',
    outbox: 'orders-kafka',
    how: '150 events a second come in, three times what its relay can publish',
    cause: (hands) => Promise.resolve(pour(hands, KAFKA_INSERT, 'order.created', 150)),
    mend: () => Promise.resolve(),
  },
  {
    verdict: 'poison_row',
    outbox: 'orders-redis',
    how: 'the sink errs on one event for ever, and its batch is rolled back each time',
    cause: async ({ query, sink }) => {
      await sink.setFault({ outbox: 'orders-redis', eventId: POISON, mode: 'error' });
      await query("INSERT INTO outbox (id, event_type, payload, created_at) VALUES ($1, 'order.created', '{}', now() AT TIME ZONE 'UTC')", [
        POISON,
      ]);
    },
    mend: async ({ query }) => void (await query('DELETE FROM outbox WHERE id = $1', [POISON])),
  },
  stopRelay('orders-redis'),
  {
    verdict: 'cannot_see',
    outbox: 'orders-redis',
    how: 'the console’s role may not read the table any more',
    cause: async ({ query }) => void (await query('REVOKE SELECT ON outbox FROM console_reader')),
    mend: async ({ query }) => void (await query('GRANT SELECT ON outbox TO console_reader')),
  },
  {
    verdict: 'cannot_see',
    outbox: 'orders-redis',
    how: 'row-level security hides its rows from the console',
    cause: async ({ query }) => void (await query('ALTER TABLE outbox ENABLE ROW LEVEL SECURITY')),
    mend: async ({ query }) => void (await query('ALTER TABLE outbox DISABLE ROW LEVEL SECURITY')),
  },
  {
    verdict: 'source_down',
    outbox: 'orders-redis',
    how: 'its database takes no connections',
    cause: async ({ query }) => {
      await query('ALTER DATABASE orders_redis ALLOW_CONNECTIONS false');
      await query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'orders_redis' AND pid <> pg_backend_pid()");
    },
    mend: async ({ query }) => void (await query('ALTER DATABASE orders_redis ALLOW_CONNECTIONS true')),
  },
  refuse('notifications', 'error'),
  stopRelay('notifications'),
  {
    verdict: 'blocked_on_key',
    outbox: 'notifications',
    how: 'the sink errs on every event of one order',
    cause: async ({ query, sink }) => {
      const ids = Array.from({ length: 8 }, () => randomUUID());
      for (const eventId of ids)
        await sink.setFault({ outbox: 'notifications', eventId, mode: 'error', message: 'smtp: 550 no such user' });
      await query(
        `INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload) SELECT id::uuid, 'order', 'order-7707', 'email.receipt', '{}' FROM unnest($1::text[]) AS id`,
        [ids],
      );
    },
    mend: async ({ query, sink }) => {
      await sink.setFault({ outbox: 'notifications', mode: 'none' });
      await query("SELECT pg_notify('outbox_events', id::text) FROM outbox WHERE aggregate_id = 'order-7707' AND processed_at IS NULL");
    },
  },
  {
    verdict: 'no_handler',
    outbox: 'notifications',
    how: 'events of a type no handler takes are inserted',
    cause: async ({ query }) =>
      void (await query(`INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload)
        SELECT gen_random_uuid(), 'order', 'order-1', 'sms.shipped', '{}' FROM generate_series(1, 3)`)),
    mend: async ({ query }) => void (await query("DELETE FROM outbox WHERE event_type = 'sms.shipped'")),
  },
];
