/**
 * What a page of a list costs in pages of memory, told by the server for the very statements that were sent: no more for
 * a large table than for a small one, and no more for the 2,000th page than for the first.
 */
import { capabilitiesOf } from '../capabilities';
import type { KyselyPlugin } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, settingsFor } from '@/scripts/testing/outbox';
import { openDatabase, type Database } from '@/lib/database/database';
import type { Db } from '@/lib/database/description';
import { StatementSettings } from '@/lib/database/postgres/session';
import type { OrderedBy } from '@/lib/shared/lists/shown';
import type { EventFilter } from '@/lib/shared/model';
import { bindOutbox } from '../bind';
import { encodeCursor } from './cursor';
import { newestDead } from './dead-letters';
import { getEvent } from '../rows/get-event';
import { listEvents } from './list-events';
import { neighboursOf } from './neighbours';
import type { Outbox } from '../outbox';
import { SHAPES } from '@/lib/shape/catalog.gen';

const ROWS = 220_000;
const WAITING = 700;
const PAGE_BUFFERS = 60;
const PAGE = 50;
const DEEP = 2_000 * PAGE;

const created = `timestamptz '2026-01-01' + i * interval '1 second'`;
const published = `CASE WHEN i <= ${ROWS - WAITING} THEN ${created} + interval '3 seconds' END`;
/** Few rows have the rare type, in every state: a search for it is cut short in one walk while another has found all of its own. */
const type = `CASE WHEN i % 2100 IN (1, 2) THEN 'rare' ELSE 't' || i % 40 END`;
const rows = `FROM generate_series(1, ${ROWS}) AS i`;

interface Table {
  shape: string;
  by: OrderedBy;
  /** The column pages go by. */
  key: string;
  fill: string[];
  /** States whose lists an index serves. */
  states: ('waiting' | 'dead' | 'published')[];
}

const TABLES: Record<string, Table> = {
  'published-at': {
    shape: 'published-at',
    by: 'happened',
    key: 'published_at',
    fill: [
      `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at, published_at)
        SELECT gen_random_uuid(), 'o', 'r' || i / 4, ${type}, '{}', ${created}, ${published} ${rows}`,
      `INSERT INTO outbox_dead (id, aggregate_type, aggregate_id, event_type, payload, created_at, attempt) SELECT gen_random_uuid(), 'o', 'r' || i, ${type}, '{}', ${created}, 10 FROM generate_series(1, 300) AS i`,
    ],
    states: ['waiting', 'dead', 'published'],
  },
  'listen-notify': {
    shape: 'listen-notify',
    by: 'happened',
    key: 'processed_at',
    fill: [
      `INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload, created_at, processed_at)
        SELECT gen_random_uuid(), 'o', 'r' || i / 4, ${type}, '{}', ${created}, ${published} ${rows}`,
      `INSERT INTO outbox_dead (id, aggregate_type, aggregate_id, event_type, payload, created_at) SELECT gen_random_uuid(), 'o', 'r' || i, ${type}, '{}', ${created} FROM generate_series(1, 300) AS i`,
    ],
    states: ['waiting', 'dead', 'published'],
  },
  'escrow-status with the advised indexes': {
    shape: 'escrow-status',
    by: 'happened',
    key: 'processed_time',
    fill: [
      `INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, processed_time, error_message)
        SELECT gen_random_uuid(), i, ${type}, 'r' || i / 4, CASE WHEN i > ${ROWS - WAITING} THEN 'pending' WHEN i % 700 = 1 THEN 'failed' WHEN i % 20000 = 2 THEN 'processing' ELSE 'processed' END, '{}',
          ${created}, CASE WHEN i % 700 <> 1 AND i % 20000 <> 2 THEN ${published} END, 'no' ${rows}`,
      `CREATE INDEX ON p2p.transaction_outbox (create_time) WHERE status = 'pending'`,
      `CREATE INDEX ON p2p.transaction_outbox (create_time, id) WHERE status = 'failed'`,
      `CREATE INDEX ON p2p.transaction_outbox (status) WHERE status = 'processing'`,
      `CREATE INDEX ON p2p.transaction_outbox (processed_time) WHERE processed_time IS NOT NULL`,
    ],
    states: ['waiting', 'dead', 'published'],
  },
  'escrow-status with an index on creation and key': {
    shape: 'escrow-status',
    by: 'created',
    key: 'create_time',
    fill: [
      `INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, processed_time)
        SELECT gen_random_uuid(), i, ${type}, 'r' || i / 4, CASE WHEN i > ${ROWS - WAITING} THEN 'pending' ELSE 'processed' END, '{}', ${created}, ${published} ${rows}`,
      `CREATE INDEX ON p2p.transaction_outbox (create_time, id)`,
    ],
    states: ['waiting', 'published'],
  },
  'escrow-status without an index': {
    shape: 'escrow-status',
    by: 'key',
    key: 'id',
    fill: [
      `INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, processed_time)
        SELECT gen_random_uuid(), i, ${type}, 'r' || i / 4, CASE WHEN i > ${ROWS - WAITING} THEN 'pending' ELSE 'processed' END, '{}', ${created}, ${published} ${rows}`,
    ],
    states: ['published'],
  },
  'worker-status': {
    shape: 'worker-status',
    by: 'key',
    key: 'id',
    fill: [
      `INSERT INTO outbox_events (event_type, payload, created_at, processed_at, status)
        SELECT ${type}, '{}', (${created}) AT TIME ZONE 'UTC', (${published}) AT TIME ZONE 'UTC', CASE WHEN i > ${ROWS - WAITING} THEN 'PENDING' ELSE 'PROCESSED' END ${rows}`,
    ],
    states: ['waiting', 'published'],
  },
};

interface Statement {
  sql: string;
  parameters: readonly unknown[];
}

/** The outbox with a database that writes down what is sent to it. */
function overheard(outbox: Outbox): { outbox: Outbox; sent: Statement[] } {
  const sent: Statement[] = [];
  const listening = (db: Db): Db => {
    const plugin: KyselyPlugin = {
      transformQuery({ node, queryId }) {
        const { sql, parameters } = db.getExecutor().compileQuery(node, queryId);
        sent.push({ sql, parameters });
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    };
    return db.withPlugin(plugin);
  };
  const database: Database = { ...outbox.database, read: (work, limits) => outbox.database.read((db) => work(listening(db)), limits) };
  return { outbox: { ...outbox, database }, sent };
}

interface Plan {
  'Node Type': string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Relation Name'?: string;
  Plans?: Plan[];
}

const scans = (plan: Plan): string[] => [
  ...(plan['Relation Name'] === undefined ? [] : [`${plan['Node Type']} ${plan['Relation Name']}`]),
  ...(plan.Plans ?? []).flatMap(scans),
];

describe.each(Object.entries(TABLES))('%s, 220,000 rows', (_name, { shape: key, by, key: column, fill, states }) => {
  const shape = SHAPES.find((one) => one.key === key);
  if (shape === undefined) throw new Error(`no shape ${key}`);
  const database = useTestDatabase(async (db) => {
    await createSample(db, shape, { rows: false });
    for (const statement of fill) await db.query(statement);
    await db.query('VACUUM (ANALYZE)');
  });
  let observed: Database;
  let plain: Outbox;
  let client: pg.Client;
  beforeAll(async () => {
    observed = openDatabase({ id: 'test', url: database.url });
    plain = await bindOutbox(settingsFor(shape), observed);
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await observed.close();
  });

  /** Runs the work and has the server say what each of its statements touches. */
  async function cost(work: (outbox: Outbox) => Promise<unknown>): Promise<{ buffers: number; scans: string[] }> {
    const { outbox, sent } = overheard(plain);
    await work(outbox);
    let buffers = 0;
    const found: string[] = [];
    await client.query('BEGIN');
    for (const { sql, parameters } of sent) {
      const [first] = parameters;
      if (first instanceof StatementSettings)
        for (const [name, value] of Object.entries(first.settings)) await client.query('SELECT set_config($1, $2, true)', [name, value]);
      else {
        const { rows: explained } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
          `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
          [...parameters],
        );
        const plan = explained[0]?.['QUERY PLAN'][0].Plan;
        if (plan === undefined) throw new Error(`no plan of ${sql}`);
        buffers += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
        found.push(...scans(plan));
      }
    }
    await client.query('ROLLBACK');
    return { buffers, scans: found };
  }

  async function deep(order: 'newest' | 'oldest'): Promise<string> {
    const way = order === 'newest' ? 'DESC' : 'ASC';
    const [row] = await database.query<{ id: string; key: string }>(
      `SELECT id::text AS id, ${column}::text AS key FROM ${shape?.table ?? ''} WHERE ${column} IS NOT NULL ORDER BY ${column} ${way}, id ${way} OFFSET ${DEEP - 1} LIMIT 1`,
    );
    return encodeCursor({ order, by, direction: 'next', key: by === 'key' ? null : (row?.key ?? ''), id: row?.id ?? '' });
  }

  const page =
    (filter: EventFilter, cursor?: string) =>
    async (outbox: Outbox): Promise<void> => {
      const found = await listEvents(outbox, filter, { limit: PAGE, cursor });
      expect(found.orderedBy).toBe(by);
      expect(found.events).toHaveLength(PAGE);
    };

  it.each(['newest', 'oldest'] as const)('the %s page and the 2,000th of them touch a page per row at the most', async (order) => {
    for (const cursor of [undefined, await deep(order)]) {
      const { buffers, scans: used } = await cost(page({ order }, cursor));
      expect.soft(buffers, used.join(', ')).toBeLessThanOrEqual(PAGE_BUFFERS);
      expect.soft(used.filter((scan) => scan.startsWith('Seq') && !scan.endsWith('outbox_dead'))).toEqual([]);
    }
  });

  it('so does the page before, and a page of one state', async () => {
    const second = await listEvents(plain, {}, { limit: PAGE, cursor: await deep('newest') });
    expect((await cost(page({}, second.previousCursor ?? ''))).buffers).toBeLessThanOrEqual(PAGE_BUFFERS);
    const filters = { waiting: ['pending', 'retrying'], dead: ['dead'], published: ['published'] } as const;
    for (const state of states) {
      const { buffers, scans: used } = await cost(page({ state: [...filters[state]] }));
      expect.soft(buffers, `${state}: ${used.join(', ')}`).toBeLessThanOrEqual(PAGE_BUFFERS);
    }
  });

  it('an event is read by its key, and its neighbours never by reading the table', async () => {
    const some = (await listEvents(plain, {}, { limit: 1, cursor: await deep('newest') })).events[0];
    const own = await cost((outbox) => getEvent(outbox, some?.id ?? ''));
    expect(own.buffers).toBeLessThanOrEqual(5);
    const { buffers, scans: used } = await cost((outbox) => (some === undefined ? Promise.resolve() : neighboursOf(outbox, some)));
    expect(buffers).toBeLessThanOrEqual(1_000);
    expect(used.filter((scan) => scan.startsWith('Seq') && !scan.endsWith('outbox_dead'))).toEqual([]);
  });

  it('causes of death are counted over the newest thousand', async () => {
    const { buffers } = await cost((outbox) => newestDead(outbox, true));
    expect(buffers).toBeLessThanOrEqual(states.includes('dead') || !capabilitiesOf(plain).states.dead.available ? 1_100 : 11_000);
  });

  it('a search that no index serves stops, says how far it came, and goes on to find every row once', async () => {
    const filter: EventFilter = { type: ['rare'] };
    const found = new Set<string>();
    let listed = 0;
    let cursor: string | undefined;
    const searched: number[] = [];
    for (let pages = 0; pages < 60; pages += 1) {
      const { events, nextCursor, searched: how } = await listEvents(plain, filter, { limit: 200, cursor });
      listed += events.length;
      for (const event of events) found.add(event.id);
      searched.push(how.rows);
      if (nextCursor !== null) expect(how.complete).toBe(false);
      if (nextCursor === null) break;
      cursor = nextCursor;
    }
    let expected = 0;
    for (const { table, roles } of [plain.main, ...(plain.dead === null ? [] : [plain.dead])]) {
      const [row] = await database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM ${table.schema}.${table.table} WHERE ${roles.type?.column.name ?? ''} = 'rare'`,
      );
      expected += row?.n ?? 0;
    }
    expect(Math.max(...searched)).toBeLessThanOrEqual(102_000);
    expect([listed, found.size]).toEqual([expected, expected]);
    expect(searched.length).toBeGreaterThan(1);
  });

  it('a filter that matches nothing reads a bounded number of rows', async () => {
    const { searched, nextCursor } = await listEvents(plain, { type: ['none'] }, { limit: PAGE });
    expect(searched.complete).toBe(false);
    expect(searched.rows).toBeLessThanOrEqual(102_000);
    expect(nextCursor).not.toBeNull();
  });
});
