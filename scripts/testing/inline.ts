/** Tables in a test's own database that no built-in shape is of, and outboxes that a mapping makes of them. */
import { afterAll, beforeAll } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { bindOutbox } from '@/lib/outbox/bind';
import type { Outbox, OutboxSettings } from '@/lib/outbox/outbox';
import { shapeSchema } from '@/lib/outbox/shape';
import { settingsFor, type AnyTestDatabase } from './outbox';

/** The database as the console opens it, with its owner's login, open while the tests of this block run. */
export function useOpened(database: AnyTestDatabase): () => Database {
  let opened: Database | undefined;
  beforeAll(() => {
    opened = openDatabase({ id: 'x', url: database.url });
  });
  afterAll(() => opened?.close());
  return () => {
    if (opened === undefined) throw new Error('The database is open while tests run');
    return opened;
  };
}

/** A table of `database` as an outbox of one mapping, checked as the configuration's is; every row is pending where `over` names no states. */
export function bindInline(database: Database, table: string, over: object, settings: Partial<OutboxSettings> = {}): Promise<Outbox> {
  const shape = shapeSchema.parse({
    key: 'inline',
    label: 'x',
    origin: 'x',
    engines: [database.engine.key],
    table,
    states: [{ state: 'pending', when: { always: true } }],
    ...over,
  });
  return bindOutbox(settingsFor(shape, { inline: true, ...settings }), database);
}
