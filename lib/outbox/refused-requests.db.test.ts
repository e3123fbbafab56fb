/** Whatever well-formed values a request holds, no server refuses them: a cursor nobody was given is `invalid`, a filter finds nothing. */
import { describe, expect, it } from 'vitest';
import { ENGINE_KEYS, type EventFilter } from '@/lib/shared/model';
import { bindInline, useOpened } from '@/scripts/testing/inline';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { encodeCursor } from './lists/cursor';
import { getEvent } from './rows/get-event';
import { listEvents } from './lists/list-events';
import type { Outbox } from './outbox';

const IMPOSSIBLE = [
  '2026-99-99 99:99:99',
  '2026-02-29 10:00:00',
  '2026-04-31',
  '2026-01-01 24:00:00',
  '2026-01-01 10:60:00',
  '2026-01-01 10:00:60',
  '999999-01-01 00:00:00',
];
const KEYS = {
  postgres: {
    'timestamp with time zone': [...IMPOSSIBLE, '0000-01-01 00:00:00', '9999-01-01 00:00:00 BC', '2026-01-01 00:00:00+99'],
    'timestamp without time zone': [...IMPOSSIBLE, '0000-12-31 00:00:00', '294277-01-01 00:00:00'],
    date: [...IMPOSSIBLE, '0000-01-01'],
    integer: ['2147483648', '-2147483649', '1.5'],
    real: ['9999999999999999999999999999999999999999'],
    'numeric(10,2)': ['1e99', 'NaN'],
    small_number: ['40000', '32768'],
  },
  mysql: {
    'datetime(6)': [...IMPOSSIBLE, '10000-01-01 00:00:00', '2026-01-01 00:00:00+00', 'infinity', '0044-03-15 00:00:00 BC'],
    'timestamp(6)': IMPOSSIBLE,
    date: IMPOSSIBLE,
    int: ['2147483648', '1.5'],
    'bigint unsigned': ['-1', '18446744073709551616'],
    'decimal(10,2)': ['1e99'],
  },
};
/** What rows do print, and may be asked for again. */
const REAL = {
  postgres: ['2024-02-29 23:59:59.999999+15:59:59', 'infinity', '-infinity', '0044-03-15 00:00:00+00 BC', '10000-01-01 00:00:00+00'],
  mysql: ['2024-02-29 23:59:59.999999', '0000-00-00 00:00:00.000000', '2026-00-10 00:00:00', '9999-12-31 23:59:59.999999'],
};
const CHECKED = { postgres: 'positive', mysql: 'int unsigned' };
const STAGE = { postgres: 'stage', mysql: "enum('new', 'sent')" };

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const types = Object.entries(KEYS[engine]);
  const numbered = types.map(([type, keys], index) => ({ type, keys, table: `t${String(index)}` }));
  const isTime = (type: string): boolean => /^(date|timestamp)/.test(type);
  const database = useTestDatabaseOf(engine, async (db) => {
    if (engine === 'postgres') {
      await db.query("CREATE TYPE stage AS ENUM ('new', 'sent')");
      await db.query('CREATE DOMAIN small_number AS smallint');
      await db.query('CREATE DOMAIN positive AS integer CHECK (value > 0)');
    }
    for (const { type, table } of numbered) {
      const nullable = type.startsWith('timestamp') ? `${type} NULL` : type;
      await db.query(`CREATE TABLE ${table} (id int PRIMARY KEY, made ${nullable}, sent ${nullable})`);
      await db.query(`CREATE INDEX ${table}_made ON ${table} (made)`);
      await db.query(`INSERT INTO ${table} (id, made) VALUES (1, ${isTime(type) ? "'2026-01-01'" : '20'})`);
    }
    await db.query(
      `CREATE TABLE odd (id ${CHECKED[engine]} PRIMARY KEY, stage ${STAGE[engine]}, made ${engine === 'postgres' ? 'timestamp' : 'datetime(6)'})`,
    );
    await db.query("INSERT INTO odd VALUES (7, 'sent', '2026-01-01')");
    const instant = engine === 'postgres' ? 'timestamptz' : 'datetime(6)';
    await db.query(`CREATE TABLE happens (id int PRIMARY KEY, made ${instant} NOT NULL, sent ${instant})`);
    await db.query('CREATE INDEX happens_waiting ON happens (sent, made)');
    if (engine === 'postgres') await db.query('CREATE INDEX happens_open ON happens (made) WHERE sent IS NULL');
    await db.query('CREATE INDEX happens_sent ON happens (sent)');
    await db.query("INSERT INTO happens VALUES (1, '2026-01-01', '2026-01-01'), (2, '2026-01-01', NULL)");
  });
  const opened = useOpened(database);

  const bound = (table: string, columns: object, states?: object[], timeZone?: string, times = {}): Promise<Outbox> =>
    bindInline(
      opened(),
      table,
      { columns: { id: 'id', ...columns }, times, ...(states === undefined ? {} : { states }) },
      timeZone === undefined ? {} : { parameters: { timeZone } },
    );
  const paged = (outbox: Outbox, key: string | null, id = '1') =>
    listEvents(outbox, {}, { limit: 5, cursor: encodeCursor({ order: 'newest', by: 'created', direction: 'next', key, id }) });
  const listed = async (outbox: Outbox, filter: EventFilter): Promise<string[]> =>
    (await listEvents(outbox, filter, { limit: 5 })).events.map(({ id }) => id);

  it.each(numbered)('a cursor of a time that $type cannot hold belongs to no list', async ({ type, keys, table }) => {
    const outbox = await bound(table, { createdAt: 'made' }, undefined, undefined, isTime(type) ? {} : { made: 'epoch_s' });
    for (const key of keys) await expect.soft(paged(outbox, key), key).rejects.toMatchObject({ name: 'Problem', code: 'invalid' });
    if (type === numbered[0]?.type) for (const key of REAL[engine]) expect.soft((await paged(outbox, key)).orderedBy, key).toBe('created');
  });

  it('a number its key cannot be, and a word its enumeration lacks, are found nowhere', async () => {
    const outbox = await bound('odd', { createdAt: 'made', dedupKey: 'stage', aggregateId: 'stage' });
    for (const q of ['-5', '0', '99999999999', 'new', 'gone', '\u0130']) expect.soft(await listed(outbox, { q }), q).toEqual([]);
    expect(await listed(outbox, { q: 'sent' })).toEqual(['7']);
    expect(await listed(outbox, { q: '7' })).toEqual(['7']);
    expect(await listed(outbox, { aggregate: 'gone' })).toEqual([]);
    for (const id of ['-5', '0', '99999999999']) expect.soft(await getEvent(outbox, id), id).toBeNull();
    const cursor = { order: 'newest', by: 'key', direction: 'next', key: null } as const;
    await expect(listEvents(outbox, {}, { limit: 5, cursor: encodeCursor({ ...cursor, id: '99999999999' }) })).rejects.toMatchObject({
      code: 'invalid',
    });
    expect(await listEvents(outbox, {}, { limit: 5, cursor: encodeCursor({ ...cursor, id: '0' }) })).toMatchObject({ events: [] });
  });

  it('the first and the last moment there are bound a list like any other', async () => {
    const [from, to] = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z'];
    const states = [
      { state: 'published', when: { column: 'sent', isNull: false } },
      { state: 'pending', when: { column: 'sent', isNull: true } },
    ];
    const happens = await bound('happens', { createdAt: 'made', publishedAt: 'sent' }, states);
    for (const filter of [{ from }, { to }, { from, to }]) {
      expect.soft((await listed(happens, filter)).toSorted(), JSON.stringify(filter)).toEqual(['1', '2']);
      expect.soft(await listed(happens, { ...filter, state: ['published'] }), JSON.stringify(filter)).toEqual(['1']);
      for (const zone of ['Asia/Seoul', 'America/New_York'])
        expect
          .soft(await listed(await bound('odd', { createdAt: 'made' }, undefined, zone), filter), `${zone} ${JSON.stringify(filter)}`)
          .toEqual(['7']);
    }
  });
});
