/** Tables in the ways people make them, on both engines: every proposal parses, binds, and reads its rows. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { applyInstall, bindForInstall } from '@/lib/interventions/install/install';
import { SHAPES } from '@/lib/shape/catalog.gen';
import type { Examination } from '@/lib/shared/detection';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestMysql } from '@/scripts/testing/mysql';
import { createSample, settingsFor } from '@/scripts/testing/outbox';
import { configOf } from './read';
import { detectAndExamine, detectOutboxes, examineTable } from './detect';
import { HOME_GROWN } from '@/fixtures/detection/home-grown';
import { statementsFor } from '@/fixtures/detection/tables';

const MS = 1_767_225_600_000;

const postgres = useTestDatabase(async (db) => {
  await db.query(HOME_GROWN.flatMap((fact) => statementsFor(fact, 'postgres')).join(';\n'));
  await db.query(`
    CREATE TABLE epoch_outbox (id uuid PRIMARY KEY, topic text, body text, created_at bigint, sent_at bigint, available_at int, claimed_at text);
    INSERT INTO epoch_outbox VALUES (gen_random_uuid(), 't', 'x', ${String(MS)}, NULL, 1767225600, '2026-01-01T00:00:00Z'), (gen_random_uuid(), 't', 'x', ${String(MS)}, ${String(MS + 1000)}, 1767225600, NULL);
    CREATE TABLE flag_outbox (tenant int NOT NULL, seq bigint NOT NULL, kind text, body jsonb, created_at timestamptz, sent boolean NOT NULL DEFAULT false, blocked boolean NOT NULL DEFAULT false, PRIMARY KEY (tenant, seq));
    INSERT INTO flag_outbox VALUES (1, 1, 'a', '{}', now(), true, false), (1, 2, 'a', '{}', now(), false, false), (2, 1, 'b', '{}', now(), false, true);
    CREATE TABLE leased_outbox (id text PRIMARY KEY, topic text, payload jsonb, created_at timestamptz DEFAULT now(), locked_by text, locked_until timestamptz, attempts int DEFAULT 0);
    INSERT INTO leased_outbox (id, topic, payload, locked_until, attempts) VALUES ('a', 't', '{}', now() + interval '1 hour', 1), ('b', 't', '{}', NULL, 0), ('c', 't', '{}', NULL, 2);
    CREATE TABLE split_outbox (id bigint NOT NULL, event_type text, payload jsonb, created_at timestamptz NOT NULL, published_at timestamptz, PRIMARY KEY (created_at, id)) PARTITION BY RANGE (created_at);
    CREATE TABLE split_outbox_1 PARTITION OF split_outbox FOR VALUES FROM ('2020-01-01') TO ('2040-01-01');
    INSERT INTO split_outbox VALUES (1, 'a', '{}', '2026-01-01', NULL), (2, 'a', '{}', '2026-01-01', now());
    CREATE SCHEMA renamed;
    CREATE TABLE renamed.spool ("offset" bigserial PRIMARY KEY, uuid text, payload json, metadata json, acked boolean NOT NULL DEFAULT false, created_at timestamptz DEFAULT now());
    INSERT INTO renamed.spool (uuid, payload) VALUES ('m-1', '{}');
    CREATE TABLE renamed.to_go (id bigserial PRIMARY KEY, uuid uuid, event_name text, event_key text, bucket int, status int, payload bytea, options jsonb, errors_count int, error_log text, processed_at timestamptz, created_at timestamptz, updated_at timestamptz);
    CREATE TABLE renamed.transit ("MessageId" varchar(200) PRIMARY KEY, "Dispatched" boolean NOT NULL DEFAULT false, "DispatchedAt" timestamp, "PersistenceVersion" varchar(23) NOT NULL, "Operations" jsonb NOT NULL);
    CREATE SCHEMA odd; CREATE TABLE odd."Order.Outbox" ("Event Id" int PRIMARY KEY, "Event Type" text, "Event Body" jsonb, "Created At" timestamptz, "Sent At" timestamptz);
    INSERT INTO odd."Order.Outbox" VALUES (1, 'a', '{}', now(), NULL), (2, 'a', '{}', now(), now());
  `);
});

const states = ({ sample }: Examination): Record<string, string> =>
  Object.fromEntries((sample?.rows ?? []).map(({ event }) => [event.id, event.state]));
const counted = (examined: Examination): string[] => Object.values(states(examined)).sort();

describe('on PostgreSQL', () => {
  let database: Database;
  beforeAll(() => {
    database = openDatabase({ id: 'shop', url: postgres.url });
  });
  afterAll(() => database.close());
  const look = (table: string, schema = 'public'): Promise<Examination> =>
    examineTable(database, { schema, table }, {}, { database: 'shop', taken: [], rows: 10, confirmed: {} });

  it('times as numbers and as text are read as such', async () => {
    const examined = await look('epoch_outbox');
    expect(examined.problem).toBeNull();
    expect(examined.yaml).toContain('createdAt: { column: created_at, time: epoch_ms }');
    expect(counted(examined)).toEqual(['processing', 'published']);
    expect(examined.sample?.rows[0]?.event.createdAt).toBe('2026-01-01T00:00:00.000000Z');
  });

  it('two booleans and a key of two columns', async () => {
    const examined = await look('flag_outbox');
    expect(examined.problem).toBeNull();
    expect(states(examined)).toEqual({ '1~1': 'published', '1~2': 'pending', '2~1': 'dead' });
  });

  it('tables of a library that are called otherwise, their times knowing their zone: what the library keeps in the name is the name', async () => {
    for (const [table, shape] of [
      ['spool', 'watermill-queue'],
      ['to_go', 'sbmt-outbox'],
      ['transit', 'nservicebus-outboxdata'],
    ] as const) {
      const examined = await look(table, 'renamed');
      expect.soft(examined.candidate.shape, table).toBe(shape);
      expect.soft(examined.problem, table).toBeNull();
    }
    const { sample } = await look('spool', 'renamed');
    expect(sample?.rows[0]?.event).toMatchObject({ type: 'spool', state: 'pending' });
  });

  it('a table split by its time, whose every key holds that time', async () => {
    const examined = await look('split_outbox');
    expect(examined.problem).toBeNull();
    expect(states(examined)).toEqual({ 1: 'pending', 2: 'published' });
  });

  it('rows that leave when they are published, with a lease', async () => {
    const examined = await look('leased_outbox');
    expect(examined.problem).toBeNull();
    expect(states(examined)).toEqual({ a: 'processing', b: 'pending', c: 'retrying' });
    expect(examined.candidate.cautions.map(({ code }) => code)).toContain('rows_vanish');
  });

  it('a name with a dot, columns with blanks', async () => {
    const examined = await look('Order.Outbox', 'odd');
    expect(examined.problem).toBeNull();
    expect(states(examined)).toEqual({ 1: 'pending', 2: 'published' });
  });

  it('every table made by hand gets lines that the configuration takes, each with an id of its own', async () => {
    const { examinations } = await detectAndExamine(database, {}, { database: 'shop', taken: [], rows: 3 });
    const made = examinations.filter(({ candidate }) => candidate.name.schema.startsWith('made_'));
    expect(made.map(({ candidate, problem }) => [candidate.table, problem])).toEqual(made.map(({ candidate }) => [candidate.table, null]));
    expect(made).toHaveLength(HOME_GROWN.length);
    const ids = examinations.flatMap(({ yaml }) => configOf(database, yaml).outboxes.map(({ id }) => id));
    expect(new Set(ids).size).toBe(examinations.length);
  });
});

describe('on MariaDB', () => {
  const mysql = useTestMysql(async (db) => {
    await db.query(
      `CREATE TABLE epoch_outbox (id char(36) PRIMARY KEY, topic varchar(64), body longtext, status varchar(16) NOT NULL, created_at bigint, sent_at bigint, attempts int NOT NULL DEFAULT 0)`,
    );
    await db.query(
      `INSERT INTO epoch_outbox VALUES (uuid(), 't', '{"card": "4111"}', 'NEW', ${String(MS)}, NULL, 0), (uuid(), 't', '{}', 'SENT', ${String(MS)}, ${String(MS + 1000)}, 1), (uuid(), 't', '{}', 'FAILED', ${String(MS)}, NULL, 9)`,
    );
    await db.query(
      'CREATE TABLE flag_outbox (tenant int NOT NULL, seq bigint NOT NULL, kind varchar(20), body json, created_at datetime(6), sent tinyint(1) NOT NULL DEFAULT 0, blocked bit(1) NOT NULL DEFAULT 0, PRIMARY KEY (tenant, seq))',
    );
    await db.query(
      "INSERT INTO flag_outbox VALUES (1, 1, 'a', '{}', now(6), 1, 0), (1, 2, 'a', '{}', now(6), 0, 0), (2, 1, 'b', '{}', now(6), 0, 1)",
    );
    await db.query('CREATE TABLE users (id bigint PRIMARY KEY, email varchar(99), status varchar(9), created_at datetime)');
  });
  let database: Database;
  beforeAll(() => {
    database = openDatabase({ id: 'shop', url: mysql.url });
  });
  afterAll(() => database.close());
  const look = (table: string): Promise<Examination> =>
    examineTable(database, { schema: mysql.name, table }, {}, { database: 'shop', taken: [], rows: 10, confirmed: { FAILED: 'dead' } });

  it('words, times as numbers, and no value of a payload', async () => {
    const examined = await look('epoch_outbox');
    expect(examined.problem).toBeNull();
    expect(examined.status?.words.map(({ word, state }) => [word, state]).sort()).toEqual([
      ['FAILED', 'dead'],
      ['NEW', 'pending'],
      ['SENT', 'published'],
    ]);
    expect(counted(examined)).toEqual(['dead', 'pending', 'published']);
    expect(JSON.stringify(examined)).not.toContain('4111');
  });

  it('two flags and a key of two columns', async () => {
    const examined = await look('flag_outbox');
    expect(examined.problem).toBeNull();
    expect(states(examined)).toEqual({ '1~1': 'published', '1~2': 'pending', '2~1': 'dead' });
  });

  it('what the console keeps beside an outbox is none, though it has all its columns', async () => {
    const shape = SHAPES.find(({ key }) => key === 'wolverine-outgoing');
    if (shape === undefined) throw new Error('no such shape');
    await createSample(mysql, shape);
    const settings = settingsFor(shape);
    const found = async () => (await detectOutboxes(database, { schema: mysql.name })).candidates.map(({ name }) => name.table);
    const before = await found();
    await applyInstall(await bindForInstall(settings, database, mysql.url), mysql.url);
    expect(before).toContain('wolverine_outgoing_envelopes');
    expect(await found()).toEqual(before);
  });
});
