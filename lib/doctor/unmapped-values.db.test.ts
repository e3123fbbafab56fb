/** A finding names status words, and nothing of what somebody wrote into another column. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { bindOutbox } from '@/lib/outbox/bind';
import { shapeSchema } from '@/lib/outbox/shape';
import { settingsFor, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { examineOutbox } from './examine';

describe.each(['postgres', 'mysql'] as const)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query('CREATE TABLE mails (id int PRIMARY KEY, status varchar(400) NOT NULL, tries int NOT NULL, error text)');
    await db.query(`INSERT INTO mails VALUES (1, 'new', 3, 'card 4111-secret declined'), (2, '${'x'.repeat(400)}', 0, NULL)`);
  });
  let opened: Database;
  beforeAll(() => {
    opened = openDatabase({ id: 'x', url: database.url });
  });
  afterAll(() => opened.close());

  it('of rows that no rule names', async () => {
    const shape = shapeSchema.parse({
      key: 'inline',
      label: 'x',
      origin: 'x',
      engines: [engine],
      table: 'mails',
      columns: { id: 'id', error: 'error' },
      states: [
        {
          state: 'dead',
          when: {
            all: [
              { column: 'tries', atLeast: 5 },
              { column: 'error', isNull: false },
            ],
          },
        },
        {
          state: 'pending',
          when: {
            all: [
              { column: 'status', equals: 'new' },
              { column: 'error', isNull: true },
            ],
          },
        },
      ],
    });
    const { examination } = await examineOutbox(await bindOutbox(settingsFor(shape, { inline: true }), opened), { samples: [] });
    const found = examination.findings.find(({ check }) => check === 'unmapped_status');
    expect(found?.values).toMatchObject({ kinds: 2, events: 2 });
    expect(String(found?.values.values).split(', ').sort()).toEqual([`“0 · NULL · ${'x'.repeat(60)}”`, '“3 · … · new”']);
  });
});
