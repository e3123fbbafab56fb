/** Every built-in shape, sixty ordinary tables and outboxes made by hand in one database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import type { Candidate, Detection } from '@/lib/shared/detection';
import { SHAPES } from '@/lib/outbox/shape-registry.gen';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestMysql } from '@/scripts/testing/mysql';
import { detectOutboxes } from './scan';
import { signatureOf } from './signatures';
import { HOME_GROWN } from './testing/home-grown';
import { ORDINARY_TABLES } from './testing/ordinary-tables';
import { RULES } from './testing/rules';
import { SHAPE_FACTS, type TableFact } from './testing/shape-facts';
import { statementsFor } from './testing/tables';

const FACTS = SHAPE_FACTS.filter((fact) => fact.engines.includes('postgres'));
const ALL: TableFact[] = [...FACTS.flatMap((fact) => [fact, ...fact.beside]), ...ORDINARY_TABLES, ...HOME_GROWN];

/** A shape's own rules; those of the facts for one that has none. */
const OWN = SHAPES.flatMap((shape) => signatureOf(shape) ?? []);
const SIGNATURES = [...OWN, ...RULES.filter(({ key }) => !OWN.some((own) => own.key === key))];

const server = useTestDatabase(async (db) => {
  await db.query(ALL.flatMap((fact) => statementsFor(fact, 'postgres')).join(';\n'));
});

describe('a PostgreSQL database that holds everything', () => {
  let database: Database;
  let detection: Detection;
  beforeAll(async () => {
    database = openDatabase({ id: 'everything', url: server.url });
    detection = await detectOutboxes(database, { signatures: SIGNATURES });
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
  let detection: Detection;
  beforeAll(async () => {
    for (const fact of all)
      for (const statement of statementsFor({ ...fact, schema: schemaOf(fact) }, 'mysql')) await mysql.query(statement);
    database = openDatabase({ id: 'everything', url: mysql.url });
    detection = await detectOutboxes(database, { signatures: SIGNATURES });
  });
  afterAll(async () => {
    await database.close();
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
});
