import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { useTestDatabaseOf, type AnyTestDatabase } from '@/scripts/testing/outbox';
import { serviceEngineFor } from '../database/engine';
import { type Answer, type OpenConnection } from '../database/service';
import { createRandom } from '../random';
import type { Relay } from '../relays/relay';
import type { OutboxTable, StoryEvent } from '../schema/table';
import { createSinkClient, type SinkControl } from '../sink/client';
import { startSink, type Sink } from '../sink/server';

export interface RelayStage {
  database: AnyTestDatabase;
  /** One statement of somebody else's, parameters numbered `$1`. */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Answer<Row>['rows']>;
  sink: SinkControl;
  /** Options every relay takes, for this file's database and sink. */
  readonly options: { connectionString: string; sink: SinkControl; outbox: string; log: (line: string) => void };
  /** Lines the relays of the running test have logged. */
  log: string[];
  /** Inserts an event as the service would; answers its id. */
  add(event?: Partial<StoryEvent>, createdAt?: Date): Promise<string>;
  /** Stops the relay after the test. */
  play<R extends Relay>(relay: R): R;
  /** How often the event was delivered so far. */
  delivered(id: string): Promise<number>;
}

/** A database with one of the tables, a sink, and an end to every relay. Call once at the top of a test file. */
export function useRelayStage(table: OutboxTable, empty: string): RelayStage {
  const database = useTestDatabaseOf(table.engine, async ({ query }) => {
    for (const statement of table.ddl) await query(statement);
  });
  const random = createRandom('relays');
  const relays: Relay[] = [];
  const log: string[] = [];
  let server: Sink;
  let sink: SinkControl;
  let client: OpenConnection;

  beforeAll(async () => {
    client = await serviceEngineFor(database.url).open(database.url);
  });
  beforeEach(async () => {
    server = await startSink();
    sink = createSinkClient({ url: server.url, timeoutMs: 300 });
    await database.query(empty);
    log.length = 0;
  });
  afterEach(async () => {
    await Promise.all(relays.splice(0).map((relay) => relay.stop()));
    sink.close();
    await server.close();
  });
  afterAll(() => client.end());

  return {
    database,
    query: async (text, values) => (await client.query<never>(text, values)).rows,
    log,
    get sink() {
      return sink;
    },
    get options() {
      return { connectionString: database.url, sink, outbox: 'tested', log: (line: string) => void log.push(line) };
    },
    add(event = {}, createdAt) {
      const id = random.uuid();
      const whole = {
        id,
        type: 'order.created',
        aggregateType: 'order',
        aggregateId: 'order-1',
        payload: { n: 1 },
        traceId: random.hex(32),
        dedupKey: `key-${id}`,
      };
      return table.insert(
        client,
        { ...whole, business: { id: 'order-1', status: 'new', amount: '1', currency: 'EUR' }, ...event },
        createdAt,
      );
    },
    play(relay) {
      relays.push(relay);
      return relay;
    },
    delivered: async (id) => (await sink.deliveries('tested', id)).length,
  };
}

/** Waits until `look` answers something like `wanted`. */
export async function eventually<T>(look: () => Promise<T> | T, wanted: unknown): Promise<void> {
  await expect.poll(look, { interval: 20 }).toEqual(wanted);
}

export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
