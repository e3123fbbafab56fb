/**
 * A service and its relay in a process of their own, set-based so that thousands of events a second cost the bench
 * little: every tick inserts what was created meanwhile and publishes as much, leaving the backlog as it was. Started by
 * `startTraffic`; reports how long each claim took when asked.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PAYLOAD } from '../fillings/filling';
import type { TrafficOptions } from './start-traffic';

const CLAIM = 'SELECT id FROM outbox_events WHERE published_at IS NULL ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED';
const CREATE = `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at)
  SELECT uuidv7(), 'order', aggregate, 'type.' || to_char(i % 25, 'FM00'), (${PAYLOAD})::jsonb, clock_timestamp()
  FROM (SELECT i, 'order-' || i AS aggregate FROM generate_series(1, $1::int) AS i) AS event`;

const { url, perSecond, tickMs } = JSON.parse(process.argv[2] ?? '{}') as TrafficOptions;
let claims: number[] = [];
let published = 0;
let running = true;

process.on('message', () => {
  process.send?.({ claims, published });
  claims = [];
});
process.on('disconnect', () => (running = false));

/** Calls `work` with how many events are due, at the rate asked for on the average. */
async function paced(work: (events: number) => Promise<number>): Promise<void> {
  const begun = performance.now();
  for (let done = 0; running;) {
    const due = Math.floor(((performance.now() - begun) / 1_000) * perSecond) - done;
    done += due > 0 ? await work(due) : 0;
    await sleep(tickMs);
  }
}

async function connect(name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: name });
  await client.connect();
  return client;
}

const service = await connect('bench service');
const relay = await connect('bench relay');
await Promise.all([
  paced(async (events) => {
    await service.query(CREATE, [events]);
    return events;
  }),
  paced(async (events) => {
    await relay.query('BEGIN');
    const begun = performance.now();
    const { rows } = await relay.query<{ id: string }>(CLAIM, [Math.max(100, events)]);
    claims.push(performance.now() - begun);
    const sent = rows.slice(0, events).map(({ id }) => id);
    await relay.query('UPDATE outbox_events SET published_at = clock_timestamp() WHERE id = ANY ($1::uuid[])', [sent]);
    await relay.query('COMMIT');
    published += sent.length;
    return sent.length;
  }),
]);
await Promise.all([service.end(), relay.end()]);
