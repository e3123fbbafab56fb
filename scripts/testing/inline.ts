/** Tables in a test's own database that no built-in shape is of, and outboxes that a mapping makes of them. */
import { afterAll, beforeAll, expect } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { bindOutbox, mappingProblems } from '@/lib/outbox/bind';
import type { Outbox, OutboxSettings } from '@/lib/outbox/outbox';
import { shapeSchema, type Shape, type ShapeInput } from '@/lib/shape/shape';
import { formatPath } from '@/lib/shared/lists/document-path';
import { createRoles, settingsFor, type AnyTestDatabase } from './outbox';
import { withoutWayOut } from './way-out';

function useOpenedAs(urlOf: () => Promise<string>): () => Database {
  let opened: Database | undefined;
  beforeAll(async () => {
    opened = openDatabase({ id: 'x', url: await urlOf() });
  });
  afterAll(() => opened?.close());
  return () => {
    if (opened === undefined) throw new Error('The database is open while tests run');
    return opened;
  };
}

/** The database as the console opens it, with its owner's login, open while the tests of this block run. */
export const useOpened = (database: AnyTestDatabase): (() => Database) => useOpenedAs(() => Promise.resolve(database.url));

/** The same with a login that reads these tables and nothing else. */
export function useReader(database: AnyTestDatabase, tables: readonly string[]): () => Database {
  return useOpenedAs(async () => {
    const roles = await createRoles(database);
    const reader = new URL(roles.reader).username;
    for (const table of tables)
      await database.query(
        database.engine === 'postgres'
          ? `GRANT SELECT ON ${table} TO ${reader}`
          : `GRANT SELECT ON ${database.name}.${table} TO ${reader}@'%'`,
      );
    return roles.reader;
  });
}

/** A mapping, checked as the configuration's is; every row is pending where `over` names no states. */
function inlineShape(engines: ShapeInput['engines'], table: string, over: object): Shape {
  return shapeSchema.parse({
    key: 'inline',
    label: 'x',
    origin: 'x',
    engines,
    table,
    states: [{ state: 'pending', when: { always: true } }],
    ...over,
  });
}

/** A table of `database` as an outbox of one mapping. */
export function bindInline(database: Database, table: string, over: object, settings: Partial<OutboxSettings> = {}): Promise<Outbox> {
  return bindOutbox(settingsFor(inlineShape([database.engine.key], table, over), { inline: true, ...settings }), database);
}

/** What is wrong with a mapping of a table, a line for each problem, as the start tells it. */
export async function problemsOf(
  database: Database,
  table: string,
  over: Partial<ShapeInput>,
  { parameters = {}, inline = true }: { parameters?: Record<string, string>; inline?: boolean } = {},
): Promise<string[]> {
  const settings = settingsFor(inlineShape(['postgres', 'mysql'], table, over), { inline });
  const found = await mappingProblems({ ...settings, table, parameters: { ...settings.parameters, ...parameters } }, database);
  const lines = found.map(({ path, message }) => `${formatPath(path)}: ${message}`);
  expect.soft(withoutWayOut(lines), 'each says what to do').toEqual([]);
  return lines;
}
