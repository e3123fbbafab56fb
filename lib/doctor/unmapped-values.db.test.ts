/** A finding names status words, and nothing of what somebody wrote into another column. */
import { describe, expect, it } from 'vitest';
import { bindInline, useOpened } from '@/scripts/testing/inline';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { examineOutbox } from './examine';
import { ENGINE_KEYS } from '@/lib/shared/model';

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query('CREATE TABLE mails (id int PRIMARY KEY, status varchar(400) NOT NULL, tries int NOT NULL, error text)');
    await db.query(`INSERT INTO mails VALUES (1, 'new', 3, 'card 4111-secret declined'), (2, '${'x'.repeat(400)}', 0, NULL)`);
  });
  const opened = useOpened(database);

  it('of rows that no rule names', async () => {
    const outbox = await bindInline(opened(), 'mails', {
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
    const { examination } = await examineOutbox(outbox, []);
    const found = examination.findings.find(({ check }) => check === 'unmapped_status');
    expect(found?.values).toMatchObject({ kinds: 2, events: 2 });
    expect(String(found?.values.values).split(', ').sort()).toEqual([`“0 · NULL · ${'x'.repeat(60)}”`, '“3 · … · new”']);
  });

  /** So many that no look reads them all, with a few of another status in the middle. */
  const many = async (table: string, seldom: string): Promise<void> => {
    await database.query(`CREATE TABLE ${table} (id int PRIMARY KEY, kind varchar(9) NOT NULL, status varchar(9))`);
    await database.query(
      `INSERT INTO ${table} SELECT n, CASE WHEN n BETWEEN 25000 AND 25999 THEN 'other' ELSE 'event' END, CASE WHEN n BETWEEN 25000 AND 25999 THEN ${seldom} ELSE 'NEW' END
        FROM (SELECT a.d + b.d * 10 + c.d * 100 + e.d * 1000 + f.d * 10000 AS n FROM ${'abcef'.split('').map((name) => `(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) ${name}`).join(', ')}) AS numbered WHERE n < 50000`,
    ); // prettier-ignore
    await database.query(`CREATE INDEX ${table}_status ON ${table} (status)`);
    await database.query(engine === 'postgres' ? `VACUUM (ANALYZE) ${table}` : `ANALYZE TABLE ${table}`);
  };
  const unmappedIn = async (table: string, rest: object): Promise<unknown> => {
    const { examination } = await examineOutbox(await bindInline(opened(), table, { columns: { id: 'id' }, ...rest }), []);
    return examination.findings.find(({ check }) => check === 'unmapped_status')?.values;
  };

  it.each([`'LATER'`, 'NULL'])('of rows that are no events, with %s, none is told', async (seldom) => {
    const table = `mixed_${seldom.replace(/\W/g, '').toLowerCase()}`;
    await many(table, seldom);
    const states = [{ state: 'pending', when: { column: 'status', equals: 'NEW' } }];
    expect(await unmappedIn(table, { states })).toMatchObject({ events: 1_000 });
    expect(await unmappedIn(table, { states, rows: { column: 'kind', equals: 'event' } })).toBeUndefined();
  });

  it('of rows between the ends of the table and at them, none is told whose word a rule means in any case', async () => {
    await many('cased', `'new'`);
    expect(await unmappedIn('cased', { states: [{ state: 'pending', when: { column: 'status', equals: 'NEW', ignoreCase: true } }] })).toBe(
      undefined,
    );
  });

  it('of few rows that are no events none is told', async () => {
    await database.query('CREATE TABLE few (id int PRIMARY KEY, kind varchar(9) NOT NULL, status varchar(9))');
    await database.query(`INSERT INTO few VALUES (1, 'event', 'NEW'), (2, 'other', 'LATER'), (3, 'other', NULL)`);
    const states = [{ state: 'pending', when: { column: 'status', equals: 'NEW' } }];
    expect(await unmappedIn('few', { states })).toMatchObject({ events: 2 });
    expect(await unmappedIn('few', { states, rows: { column: 'kind', equals: 'event' } })).toBeUndefined();
  });
});
