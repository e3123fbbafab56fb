/** An outbox of any built-in shape in a test's own database, from the shape's own sample. */
import pg from 'pg';
import { openDatabase } from '@/lib/database/database';
import { applyInstall } from '@/lib/interventions/install';
import { bindOutbox } from '@/lib/outbox/bind';
import { tableParts } from '@/lib/outbox/language/names';
import type { Outbox, OutboxSettings } from '@/lib/outbox/outbox';
import type { Shape } from '@/lib/outbox/shape';
import type { TestDatabase } from './database';

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

/** Creates the sample's tables, and its rows unless told otherwise. */
export async function createSample(database: Pick<TestDatabase, 'query'>, shape: Shape, options: { rows?: boolean } = {}): Promise<void> {
  for (const statement of shape.sample?.ddl.postgres ?? []) await database.query(statement);
  if (options.rows === false) return;
  for (const row of shape.sample?.rows ?? []) await insertRow(database, tableOf(shape, row.in), row.values);
}

/** The quoted name of a sample's table. */
export function tableOf(shape: Shape, place: 'main' | 'dead'): string {
  const main = tableParts(shape.table);
  const { schema, table } = place === 'main' ? main : tableParts(shape.dead?.table ?? '');
  return [schema ?? main.schema, table].flatMap((name) => (name === null ? [] : [pg.escapeIdentifier(name)])).join('.');
}

export async function insertRow(database: Pick<TestDatabase, 'query'>, table: string, values: Record<string, unknown>): Promise<void> {
  const names = Object.keys(values);
  const parameters = Object.values(values).map((value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value));
  await database.query(
    `INSERT INTO ${table} (${names.map((name) => pg.escapeIdentifier(name)).join(', ')}) OVERRIDING SYSTEM VALUE VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    parameters,
  );
}

/** Roles of their own for reader and operator, so that a test sees what the grants really allow. */
export async function createRoles(database: TestDatabase): Promise<{ reader: string; operator: string }> {
  const names = { reader: `r_${database.name}`, operator: `o_${database.name}` };
  for (const name of Object.values(names)) await database.query(`CREATE ROLE ${name} LOGIN PASSWORD 'test'`);
  return { reader: database.urlFor(names.reader, 'test'), operator: database.urlFor(names.operator, 'test') };
}

export interface OpenOutbox {
  outbox: Outbox;
  /** Binds again, after the table or the configuration changed. */
  rebind(over?: Partial<OutboxSettings>): Promise<Outbox>;
  close(): Promise<void>;
}

/** Installs the companions as superuser and binds the outbox with its own reader and operator. */
export async function openSample(database: TestDatabase, shape: Shape, over: Partial<OutboxSettings> = {}): Promise<OpenOutbox> {
  const roles = await createRoles(database);
  const opened = openDatabase({ id: 'test', url: roles.reader, operatorUrl: roles.operator });
  const settings = settingsFor(shape, over);
  await applyInstall(await bindOutbox(settings, opened), database.url);
  return {
    outbox: await bindOutbox(settings, opened),
    rebind: (more = {}) => bindOutbox({ ...settings, ...more }, opened),
    close: () => opened.close(),
  };
}
