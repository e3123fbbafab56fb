/**
 * The tables that shapes marked `proven: 'by_tests'` are tested on, as proven-tables.json holds them. After a change of a
 * sample: `npx vitest run --project db lib/outbox/proof/proven-tables.db.test.ts -u`.
 */
import { format } from 'prettier';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { createSample, settingsFor, type AnyTestDatabase } from '@/scripts/testing/outbox';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestMysql } from '@/scripts/testing/mysql';
import type { EngineKey } from '@/lib/shared/model';
import { bindOutbox } from '../bind';
import type { TableDescription, TableRules } from '@/lib/database/description';
import type { ProvenTable } from './proof-facts';
import type { Shape } from '@/lib/shape/shape';
import { SHAPES } from '@/lib/shape/catalog.gen';

type Tables = { main: ProvenTable; dead: ProvenTable | null };

const databases = { postgres: useTestDatabase(), mysql: useTestMysql() };
const opened = new Map<EngineKey, Database>();
beforeAll(() => {
  for (const { engine, url } of Object.values(databases)) opened.set(engine, openDatabase({ id: 'test', url }));
});
afterAll(async () => {
  for (const database of opened.values()) await database.close();
});

/** Names repeat between shapes: each sample is made, read and dropped before the next one. */
async function tablesOf(shape: Shape, engine: EngineKey): Promise<Tables> {
  const database = databases[engine];
  await createSample(database, shape, { rows: false });
  const reader = opened.get(engine);
  if (reader === undefined) throw new Error(`no database of ${engine}`);
  const { main, dead, rules } = await bindOutbox(settingsFor(shape), reader);
  await dropAll(database);
  return {
    main: provenTable(main.description, rules.main),
    dead: dead === null ? null : provenTable(dead.description, rules.dead),
  };
}

/** What of a table counts when another one is compared with it. */
function provenTable(description: TableDescription, rules: TableRules | null): ProvenTable {
  return {
    columns: Object.fromEntries(
      [...description.columns.values()].map((column) => [column.name, column.generated ? 'generated' : column.kind]),
    ),
    triggers: (rules?.triggers ?? []).filter(({ enabled, timing }) => enabled && timing !== 'after').map(({ name }) => name),
  };
}

async function dropAll(database: AnyTestDatabase): Promise<void> {
  if (database.engine === 'mysql') {
    await database.query(`DROP DATABASE ${database.name}`);
    await database.query(`CREATE DATABASE ${database.name}`);
    return;
  }
  const schemas = await database.query<{ nspname: string }>(
    `SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'`,
  );
  for (const { nspname } of schemas) await database.query(`DROP SCHEMA "${nspname}" CASCADE`);
  await database.query('CREATE SCHEMA public');
}

it('are written down as the samples make them', async () => {
  const tables: Record<string, Record<string, Tables>> = {};
  for (const shape of SHAPES) {
    if (shape.proven !== 'by_tests') continue;
    const own: Record<string, Tables> = {};
    for (const engine of [...shape.engines].sort()) own[engine] = await tablesOf(shape, engine);
    tables[shape.key] = own;
  }
  const text = await format(JSON.stringify(tables), { parser: 'json', printWidth: 140 });
  await expect(text).toMatchFileSnapshot('./proven-tables.json');
});
