/** An outbox of any built-in shape in a test's own database, from the shape's own sample. */
import type { ShapeSample } from '@/fixtures/sample';
import { sampleOf } from '@/fixtures/samples';
import { openDatabase, type Database } from '@/lib/database/database';
import { mysqlEngine } from '@/lib/database/mysql/engine';
import { postgresEngine } from '@/lib/database/postgres/engine';
import { applyInstall, bindForInstall } from '@/lib/interventions/install/install';
import { bindOutbox } from '@/lib/outbox/bind';
import { capturedOf, filledName } from '@/lib/shape/bind/find-table';
import { tableParts } from '@/lib/shape/schema/names';
import { idColumns } from '@/lib/shape/schema/source';
import { idText } from '@/lib/outbox/rows/row-id';
import type { Outbox, OutboxSettings } from '@/lib/outbox/outbox';
import { proofFacts } from '@/lib/outbox/proof/proof-facts';
import type { KnownProof } from '@/lib/outbox/proof/proven';
import type { Shape } from '@/lib/shape/shape';
import type { EngineKey } from '@/lib/shared/model';
import { useTestDatabase, type TestDatabase } from './database';
import { useTestMysql, type TestMysql } from './mysql';

export const ENGINES = { postgres: postgresEngine, mysql: mysqlEngine };

/** A test file's own database of either engine. */
export type AnyTestDatabase = TestDatabase | TestMysql;

/** As `useTestDatabase`, of the engine named. */
export function useTestDatabaseOf(engine: EngineKey, setup?: (database: AnyTestDatabase) => Promise<void>): AnyTestDatabase {
  return engine === 'postgres' ? useTestDatabase(setup) : useTestMysql(setup);
}

/** Settings as the configuration would give them, everything optional left out. */
export function settingsFor(shape: Shape, over: Partial<OutboxSettings> = {}): OutboxSettings {
  return {
    id: 'sample',
    name: 'Sample',
    table: shape.table,
    shape,
    inline: false,
    parameters: {},
    links: [],
    amount: null,
    mask: [],
    ...over,
  };
}

/** The same of a shape whose tables were made in `schema`, called after it. */
export function settingsIn(shape: Shape, schema: string, over: Partial<OutboxSettings> = {}): OutboxSettings {
  const table = { schema, table: tableParts(shape.table).table };
  return settingsFor(shape, { id: schema.replaceAll('_', '-'), name: shape.label, table, ...over });
}

/** Creates the tables of the shape's sample, or of another, and its rows unless told otherwise. */
export async function createSample(
  database: AnyTestDatabase,
  shape: Shape,
  { rows = true, sample = sampleOf(shape) }: { rows?: boolean; sample?: ShapeSample } = {},
): Promise<void> {
  for (const statement of sample.ddl[database.engine] ?? []) await database.query(statement);
  if (!rows) return;
  for (const row of sample.rows) await insertRow(database, tableOf(shape, row.in, database.engine, sample), row.values);
}

/** The quoted name of a sample's table. */
export function tableOf(shape: Shape, place: 'main' | 'dead', engine: EngineKey = 'postgres', sample = sampleOf(shape)): string {
  const main = tableParts(sample.table?.[engine] ?? shape.table);
  const { schema, table } = place === 'main' ? main : tableParts(filledName(shape.dead?.table ?? '', capturedOf(shape, main.table, false)));
  return [schema ?? main.schema, table].flatMap((name) => (name === null ? [] : [ENGINES[engine].quote.identifier(name)])).join('.');
}

export async function insertRow(database: AnyTestDatabase, table: string, values: Record<string, unknown>): Promise<void> {
  const names = Object.keys(values);
  const { quote, features } = ENGINES[database.engine];
  const parameters = Object.values(values).map((value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value));
  await database.query(
    `INSERT INTO ${table} (${names.map((name) => quote.identifier(name)).join(', ')}) ${features.overridingSystemValue ? 'OVERRIDING SYSTEM VALUE' : ''}
      VALUES (${names.map((_, index) => (database.engine === 'postgres' ? `$${index + 1}` : '?')).join(', ')})`,
    parameters,
  );
}

/** The id of a sample row's event: the values of its key, whatever case the table has their names in. */
export function sampleEventId(shape: Shape, row: { values: Record<string, unknown> }): string {
  const same = (name: string): string => name.toLowerCase().replaceAll('_', '');
  const values = new Map(Object.entries(row.values).map(([name, value]) => [same(name), value]));
  return idText((shape.columns.id === undefined ? [] : idColumns(shape.columns.id)).map((name) => String(values.get(same(name)))));
}

/** Roles of their own for reader and operator, so that a test sees what the grants really allow. */
export async function createRoles(database: AnyTestDatabase): Promise<{ reader: string; operator: string }> {
  const names = { reader: `r_${database.name}`, operator: `o_${database.name}` };
  for (const name of Object.values(names))
    await database.query(
      database.engine === 'postgres' ? `CREATE ROLE ${name} LOGIN PASSWORD 'test'` : `CREATE USER ${name}@'%' IDENTIFIED BY 'test'`,
    );
  return { reader: database.urlFor(names.reader, 'test'), operator: database.urlFor(names.operator, 'test') };
}

export interface OpenOutbox {
  outbox: Outbox;
  /** Binds again, after the table or the configuration changed. */
  rebind(over?: Partial<OutboxSettings>): Promise<Outbox>;
  close(): Promise<void>;
}

/** Installs the companions as superuser and binds the outbox with its own reader and operator. */
export async function openSample(database: AnyTestDatabase, shape: Shape, over: Partial<OutboxSettings> = {}): Promise<OpenOutbox> {
  const roles = await createRoles(database);
  const open = (): Database => openDatabase({ id: 'test', url: roles.reader, operatorUrl: roles.operator });
  const settings = settingsFor(shape, { table: sampleOf(shape).table?.[database.engine] ?? shape.table, ...over });
  // A reader that was turned away before its grants is not tried again for a while: the next connection is another one's.
  const before = open();
  await applyInstall(await bindForInstall(settings, before, database.url), database.url).finally(() => before.close());
  const opened = open();
  return {
    outbox: await bindOutbox(settings, opened),
    rebind: (more = {}) => bindOutbox({ ...settings, ...more }, opened),
    close: () => opened.close(),
  };
}

export interface ProvenOutbox extends OpenOutbox {
  /** What the store would know: this mapping was proven on this table, and changes were turned on. */
  known: KnownProof;
}

/** As `openSample`, of an outbox whose mapping somebody has proven. */
export async function openProven(database: AnyTestDatabase, shape: Shape, over: Partial<OutboxSettings> = {}): Promise<ProvenOutbox> {
  return proven(await openSample(database, shape, over));
}

/** The same outbox after somebody has proven its mapping on its tables as they were bound. */
export async function proven(open: OpenOutbox): Promise<ProvenOutbox> {
  const facts = proofFacts(open.outbox);
  const known: KnownProof = { switched: { on: true, facts }, decided: { passed: true, refused: [], facts } };
  return { ...open, outbox: await bindOutbox(open.outbox.settings, open.outbox.database, known), known };
}
