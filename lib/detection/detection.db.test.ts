/** Every built-in shape, sixty ordinary tables and outboxes made by hand in one database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import type { Candidate, Detection } from '@/lib/shared/detection';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestMysql } from '@/scripts/testing/mysql';
import { detectOutboxes } from './detect';
import { HOME_GROWN } from '@/fixtures/detection/home-grown';
import { ORDINARY_TABLES } from '@/fixtures/detection/ordinary-tables';
import { SHAPE_FACTS, type TableFact } from '@/fixtures/detection/shape-facts';
import { statementsFor } from '@/fixtures/detection/tables';

const FACTS = SHAPE_FACTS.filter((fact) => fact.engines.includes('postgres'));
const ALL: TableFact[] = [...FACTS.flatMap((fact) => [fact, ...fact.beside]), ...ORDINARY_TABLES, ...HOME_GROWN];

const server = useTestDatabase(async (db) => {
  await db.query(ALL.flatMap((fact) => statementsFor(fact, 'postgres')).join(';\n'));
});

describe('a PostgreSQL database that holds everything', () => {
  let database: Database;
  let detection: Detection;
  beforeAll(async () => {
    database = openDatabase({ id: 'everything', url: server.url });
    detection = await detectOutboxes(database);
  });
  afterAll(() => database.close());
  const of = (fact: TableFact): Candidate[] =>
    detection.candidates.filter(({ name }) => name.schema === fact.schema && name.table === fact.table);

  it.each(FACTS.map((fact) => [fact.shape, fact] as const))('names %s', (shape, fact) => {
    expect(of(fact).map((candidate) => candidate.shape)).toEqual([shape]);
  });

  it('takes no ordinary table for an outbox', () => {
    expect(ORDINARY_TABLES.length).toBeGreaterThanOrEqual(30);
    expect(ORDINARY_TABLES.flatMap(of).map(({ table, shape, reasons }) => ({ table, shape, reasons }))).toEqual([]);
  });

  it.each(HOME_GROWN.map((fact) => [fact.table, fact] as const))('finds %s, made by hand', (_, fact) => {
    expect(of(fact)).toMatchObject([{ shape: null, confidence: fact.confidence }]);
  });

  it('looks at every table once, and at none that is a part of another', () => {
    expect(detection.tables).toBe(ALL.length);
    expect(detection.cut).toBe(false);
  });
});

describe('a MariaDB server that holds everything', () => {
  const facts = SHAPE_FACTS.filter((fact) => fact.engines.includes('mysql'));
  const all: TableFact[] = [...facts.flatMap((fact) => [fact, ...fact.beside]), ...ORDINARY_TABLES, ...HOME_GROWN];
  const schemaOf = (fact: TableFact): string => `${mysql.name}_${fact.schema}`.slice(0, 64);
  const schemas = (): string[] => [...new Set(all.map(schemaOf))];
  const mysql = useTestMysql();
  let database: Database;
  let own: Database;
  let detection: Detection;
  beforeAll(async () => {
    for (const fact of all)
      for (const statement of statementsFor({ ...fact, schema: schemaOf(fact) }, 'mysql')) await mysql.query(statement);
    const server = new URL(mysql.url);
    server.pathname = '/';
    database = openDatabase({ id: 'everything', url: server.href });
    detection = await detectOutboxes(database);
    await mysql.query('CREATE TABLE outbox (id bigint PRIMARY KEY, event_type text, payload json, created_at datetime, sent_at datetime)');
    own = openDatabase({ id: 'own', url: mysql.url });
  });
  afterAll(async () => {
    await database.close();
    await own.close();
    for (const schema of schemas()) await mysql.query(`DROP DATABASE \`${schema}\``);
  });
  const of = (fact: TableFact): Candidate[] =>
    detection.candidates.filter(({ name }) => name.schema === schemaOf(fact) && name.table === fact.table);

  it.each(facts.map((fact) => [fact.shape, fact] as const))('names %s', (shape, fact) => {
    expect(of(fact).map((candidate) => candidate.shape)).toEqual([shape]);
  });

  it('takes no ordinary table for an outbox', () => {
    expect(ORDINARY_TABLES.flatMap(of).map(({ table, shape, reasons }) => ({ table, shape, reasons }))).toEqual([]);
  });

  it.each(HOME_GROWN.map((fact) => [fact.table, fact] as const))('finds %s, made by hand', (_, fact) => {
    expect(of(fact)).toMatchObject([{ shape: null, confidence: fact.confidence }]);
  });

  it('looks at the database alone that the connection string names, and at another one where it is asked for', async () => {
    const { tables, candidates } = await detectOutboxes(own);
    expect(candidates.map(({ table }) => table)).toEqual([`${mysql.name}.outbox`]);
    expect(tables).toBe(1);
    const [fact] = HOME_GROWN;
    const other = await detectOutboxes(own, { schema: fact === undefined ? '' : schemaOf(fact) });
    expect(other.candidates.map(({ name }) => name)).toEqual([{ schema: fact && schemaOf(fact), table: fact?.table }]);
  });

  it('takes a configured name without a database for a table of the connection’s own', async () => {
    const configured = new Map([['order_outbox', 'orders']]);
    const schema = `${mysql.name}_made_order_outbox`;
    const watched = async (from: Database) =>
      (await detectOutboxes(from, { schema, configured })).candidates.map((one) => one.configuredAs);
    expect(await watched(own)).toEqual([null]);
    const url = new URL(mysql.url);
    url.pathname = `/${schema}`;
    const there = openDatabase({ id: 'there', url: url.href });
    try {
      expect(await watched(there)).toEqual(['orders']);
    } finally {
      await there.close();
    }
  });
});

describe('a database of thousands of tables', () => {
  const large = useTestDatabase(async (db) => {
    for (let at = 0; at < 3_000; at += 500) {
      await db.query(
        Array.from(
          { length: 500 },
          (_, n) =>
            `CREATE TABLE t_${String(at + n)} (id bigint, name text, status text, kind text, amount numeric, note text, created_at timestamptz, updated_at timestamptz)`,
        ).join(';'),
      );
    }
    await db.query(
      'CREATE TABLE order_outbox (id bigint PRIMARY KEY, event_type text, payload jsonb, created_at timestamptz, sent_at timestamptz)',
    );
    await db.query(
      'CREATE TABLE parted_outbox (id bigint, event_type text, payload jsonb, created_at timestamptz, sent_at timestamptz) PARTITION BY RANGE (created_at)',
    );
    await db.query("CREATE TABLE parted_outbox_2026 PARTITION OF parted_outbox FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')");
    await db.query('CREATE TABLE parted_outbox_old () INHERITS (order_outbox)');
    await db.query('CREATE VIEW outbox_view AS SELECT * FROM order_outbox');
    await db.query('ALTER TABLE parted_outbox ENABLE ROW LEVEL SECURITY');
    await db.query(`CREATE ROLE r_${db.name} LOGIN PASSWORD 'x'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO r_${db.name}`);
  });

  it('is looked at within the time of one reading, and parts of tables are not tables', async () => {
    const database = openDatabase({ id: 'large', url: large.urlFor(`r_${large.name}`, 'x') });
    try {
      const detection = await detectOutboxes(database);
      expect(detection.tables).toBe(3_002);
      expect(detection.candidates.map(({ table }) => table)).toEqual(['public.order_outbox', 'public.parted_outbox']);
      const hidden = detection.candidates.find(({ table }) => table === 'public.parted_outbox');
      expect(hidden?.cautions.map(({ code }) => code)).toContain('row_security');
    } finally {
      await database.close();
    }
  });
});
