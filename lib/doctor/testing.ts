/** Tables for the doctor's tests: well kept ones, small, that a test then spoils in one way. */
import { sampleOf } from '@/fixtures/samples';
import { tableParts } from '@/lib/shape/schema/names';
import { bindOutbox } from '@/lib/outbox/bind';
import type { Database } from '@/lib/database/database';
import type { OutboxSettings } from '@/lib/outbox/outbox';
import { SHAPES } from '@/lib/shape/catalog.gen';
import type { Shape } from '@/lib/shape/shape';
import type { Examination } from '@/lib/shared/doctor';
import { examineOutbox } from './examine';
import type { Sample } from './samples';

export function shapeCalled(key: string): Shape {
  const shape = SHAPES.find((one) => one.key === key);
  if (shape === undefined) throw new Error(`no shape ${key}`);
  return shape;
}

/** Statements that make a shape's tables in a schema of their own, with the indexes and the retention of a well kept one. */
export function keptTables(key: string, schema: string): string[] {
  const shape = shapeCalled(key);
  const given = tableParts(shape.table).schema;
  return [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    `SET search_path TO ${schema}`,
    ...(sampleOf(shape).ddl.postgres ?? [])
      .filter((text) => !text.startsWith('CREATE SCHEMA'))
      .map((text) => (given === null ? text : text.replaceAll(`${given}.`, `${schema}.`))),
    ...(KEPT[key] ?? []),
    'RESET search_path',
  ];
}

const KEPT: Record<string, string[]> = {
  'escrow-status': [
    'CREATE UNIQUE INDEX kept_dedup ON transaction_outbox (idempotency_key)',
    `CREATE INDEX kept_waiting ON transaction_outbox (create_time) WHERE status = 'pending'`,
    `CREATE INDEX kept_processing ON transaction_outbox (create_time) WHERE status = 'processing'`,
    `CREATE INDEX kept_dead ON transaction_outbox (create_time, id) WHERE status = 'failed'`,
    'CREATE INDEX kept_published ON transaction_outbox (processed_time) WHERE processed_time IS NOT NULL',
  ],
  'worker-status': [
    `CREATE INDEX kept_waiting ON outbox_events (created_at) WHERE status = 'PENDING'`,
    `CREATE INDEX kept_processing ON outbox_events (created_at) WHERE status = 'PROCESSING'`,
    'CREATE INDEX kept_published ON outbox_events (processed_at) WHERE processed_at IS NOT NULL',
  ],
  'courier-status': [`CREATE INDEX kept_waiting ON outbox (created_at) WHERE status = 'PENDING'`],
};

/** SQL that fills a kept table with `rows` events of the last hours: most published, the newest waiting, a few dead. */
export function fill(key: string, schema: string, rows: number): string {
  const created = `now() - (${rows} - i) * interval '100 ms'`;
  const waits = `i > ${rows} - 20`;
  const series = `FROM generate_series(1, ${rows}) AS i`;
  const utc = (time: string): string => `(${time}) AT TIME ZONE 'UTC'`;
  const statements: Record<string, string> = {
    'escrow-status': `INSERT INTO ${schema}.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, processed_time, last_attempt_time, retry_count)
      SELECT gen_random_uuid(), 'k' || i, 't' || i % 3, 'r' || i, CASE WHEN ${waits} THEN 'pending' WHEN i % 997 = 0 THEN 'failed' ELSE 'processed' END, '{"n": 1}', ${created},
        CASE WHEN NOT ${waits} AND i % 997 <> 0 THEN ${created} + interval '1 s' END, ${created}, 0 ${series}`,
    'worker-status': `INSERT INTO ${schema}.outbox_events (event_type, payload, created_at, processed_at, status) SELECT 't', '{}', ${utc(created)},
      CASE WHEN NOT ${waits} THEN ${utc(`${created} + interval '1 s'`)} END, CASE WHEN ${waits} THEN 'PENDING' ELSE 'PROCESSED' END ${series}`,
    'published-at': `INSERT INTO ${schema}.outbox_events (id, aggregate_type, aggregate_id, event_type, payload, dedup_key, created_at, published_at)
      SELECT gen_random_uuid(), 'a', 'a' || i, 't', '{}', 'k' || i, ${created}, CASE WHEN NOT ${waits} THEN ${created} + interval '1 s' END ${series}`,
    'courier-status': `INSERT INTO ${schema}.outbox (id, event_type, payload, status, created_at) SELECT gen_random_uuid(), 't', '{}', CASE WHEN ${waits} THEN 'PENDING' ELSE 'PROCESSED' END, ${utc(created)} ${series}`,
    'listen-notify': `INSERT INTO ${schema}.outbox (id, aggregate_type, aggregate_id, event_type, payload, created_at, processed_at)
      SELECT gen_random_uuid(), 'a', 'a' || i, 't', '{}', ${created}, CASE WHEN NOT ${waits} THEN ${created} + interval '1 s' END ${series}`,
  };
  return statements[key] ?? '';
}

/** Binds the table and examines it once. */
export async function examineTable(database: Database, settings: OutboxSettings, samples: readonly Sample[] = []): Promise<Examination> {
  const outbox = await bindOutbox(settings, database);
  return (await examineOutbox(outbox, samples)).examination;
}
