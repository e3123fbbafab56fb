/** Values that a server compares or prints otherwise than they were written. */
import { describe, expect, it } from 'vitest';
import { bindInline, useOpened } from '@/scripts/testing/inline';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { CauseTally } from '../lists/causes';
import { newestDead } from '../lists/dead-letters';
import { listEvents } from '../lists/list-events';
import type { Outbox } from '../outbox';
import type { ShapeInput } from '@/lib/shape/shape';
import { ENGINE_KEYS } from '@/lib/shared/model';

const DDL = {
  postgres: [
    "CREATE TYPE stage AS ENUM ('new', 'sent')",
    'CREATE DOMAIN stage_of_events AS stage',
    'CREATE TABLE odd (id int PRIMARY KEY, share real NOT NULL, kind stage_of_events NOT NULL, errors jsonb)',
  ],
  mysql: ["CREATE TABLE odd (id int PRIMARY KEY, share float NOT NULL, kind enum('new', 'sent') NOT NULL, errors json)"],
};
const ROWS = [`(1, 0.1, 'new', '["first", "the \\\\"last\\\\""]')`, `(2, 0.7, 'sent', '[]')`, `(3, 16777216, 'new', NULL)`];

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    for (const statement of DDL[engine]) await db.query(statement);
    for (const row of ROWS) await db.query(`INSERT INTO odd VALUES ${engine === 'postgres' ? row.replaceAll('\\\\', '\\') : row}`);
  });
  const opened = useOpened(database);

  const bound = (states: ShapeInput['states']): Promise<Outbox> =>
    bindInline(opened(), 'odd', { columns: { id: 'id', type: 'kind', error: { column: 'errors', last: true } }, states });
  const stateOf = async (outbox: Outbox): Promise<string[]> =>
    (await listEvents(outbox, { order: 'oldest' }, { limit: 5 })).events.map(({ state }) => state);

  it('a fraction is compared as the column keeps it', async () => {
    const outbox = await bound([
      { state: 'pending', when: { column: 'share', equals: 0.1 } },
      { state: 'dead', when: { column: 'share', in: [0.7, 16777216] } },
    ]);
    expect(await stateOf(outbox)).toEqual(['pending', 'dead', 'dead']);
    expect((await listEvents(outbox, { state: ['dead'], order: 'oldest' }, { limit: 5 })).events.map(({ id }) => id)).toEqual(['2', '3']);
  });

  it('an enumeration under another name is compared as what it is', async () => {
    const outbox = await bound([
      { state: 'pending', when: { column: 'kind', equals: 'new' } },
      { state: 'published', when: { column: 'kind', in: ['sent'] } },
    ]);
    expect(await stateOf(outbox)).toEqual(['pending', 'published', 'pending']);
    expect((await listEvents(outbox, { type: ['sent'] }, { limit: 5 })).events.map(({ id }) => id)).toEqual(['2']);
  });

  it('dead events are counted by their types and errors as they are written', async () => {
    await database.query('CREATE TABLE died (id int PRIMARY KEY, kind varchar(20), error varchar(80))');
    await database.query(
      "INSERT INTO died VALUES (1, 'Paid', 'Timeout'), (2, 'Paid', 'timeout'), (3, 'paid', 'timeout'), (4, 'paid', 'timeout '), (5, 'paid', 'timéout'), (6, 'paid', NULL), (7, 'paid', NULL)",
    );
    const states = [{ state: 'dead', when: { always: true } }];
    const rows = await newestDead(
      await bindInline(opened(), 'died', { columns: { id: 'id', type: 'kind', error: 'error' }, states }),
      false,
    );
    const tally = new CauseTally();
    tally.add(rows);
    expect(
      tally
        .causes()
        .map(({ type, error, count }) => [type, error, count])
        .sort(),
    ).toEqual([
      ['Paid', 'Timeout', 1],
      ['Paid', 'timeout', 1],
      ['paid', null, 2],
      ['paid', 'timeout ', 1],
      ['paid', 'timeout', 1],
      ['paid', 'timéout', 1],
    ]);
  });

  it('the last text of a list is read without its quotes', async () => {
    const { events } = await listEvents(await bound([{ state: 'pending', when: { always: true } }]), { order: 'oldest' }, { limit: 5 });
    expect(events.map(({ error }) => error)).toEqual(['the "last"', null, null]);
  });
});
