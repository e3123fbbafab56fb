/** Every id the list shows is found again: by its address and by the search, whatever its type. */
import { describe, expect, it } from 'vitest';
import { printsAsDecimal } from '@/lib/database/column-text';
import { bindInline, useOpened } from '@/scripts/testing/inline';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { getEvent } from './get-event';
import { listEvents } from '../lists/list-events';
import type { Outbox } from '../outbox';
import { ENGINE_KEYS } from '@/lib/shared/model';

const BYTES = { postgres: ["'\\x00ff7e25'", "'\\x20'", "'\\x'"], mysql: ["x'00ff7e25'", "x'20'", "x''"] };
const TABLES = {
  whole_numbers: { type: { postgres: 'numeric(20)', mysql: 'decimal(20)' }, ids: ['18446744073709551610', '-5', '0'] },
  places: { type: { postgres: 'numeric(12,2)', mysql: 'decimal(12,2)' }, ids: ['10.50', '-0.25', '0.00', '9999999999.99'] },
  any_places: { type: { postgres: 'numeric', mysql: 'decimal(12,3)' }, ids: ['1.5', '2.50', '-0.001', '7', '0'] },
  huge: { type: { postgres: 'numeric(38)', mysql: 'decimal(38)' }, ids: ['-99999999999999999999999999999999999999', '7'] },
  padded: { type: { postgres: 'integer', mysql: 'int(6) unsigned zerofill' }, ids: ['7', '1234567'] },
  bytes: { type: { postgres: 'bytea', mysql: 'varbinary(16)' }, ids: BYTES },
  texts: {
    type: { postgres: 'varchar(80)', mysql: 'varchar(80)' },
    ids: ["'a~b%c/1'", "'..%2f?x=1&y#z'", "'주문 +;:@='", "'100%25'", "' leads'", "'trails '", "'  '"],
  },
};

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    for (const [name, { type, ids }] of Object.entries(TABLES)) {
      await db.query(`CREATE TABLE ${name} (id ${type[engine]} PRIMARY KEY, made_at timestamp NOT NULL)`);
      for (const id of Array.isArray(ids) ? ids : ids[engine]) await db.query(`INSERT INTO ${name} VALUES (${id}, '2026-01-01 00:00:01')`);
    }
  });
  const opened = useOpened(database);

  it.each(Object.entries(TABLES))('%s', async (table, { ids }) => {
    const outbox = await bindInline(opened(), table, { columns: { id: 'id', createdAt: 'made_at' } });
    const { events } = await listEvents(outbox, {}, { limit: 50 });
    expect(events).toHaveLength((Array.isArray(ids) ? ids : ids[engine]).length);
    expect(await walked(outbox)).toEqual(events.map(({ id }) => id));
    for (const { id } of events) {
      expect.soft((await getEvent(outbox, id))?.event.id, id).toBe(id);
      // The same number written otherwise is another text.
      if (/^-?[0-9.]+$/.test(id)) expect.soft(await getEvent(outbox, id.includes('.') ? `${id}0` : `${id}.0`), id).toBeNull();
      expect.soft((await listEvents(outbox, { q: id }, { limit: 5 })).events.map((event) => event.id)).toEqual([id]);
      // Spaces pasted along do not hide it.
      if (id.trim() !== id) continue;
      expect.soft((await listEvents(outbox, { q: ` ${id} ` }, { limit: 5 })).events.map((event) => event.id)).toEqual([id]);
    }
  });
});

/** The ids of the list, one to a page. */
async function walked(outbox: Outbox): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await listEvents(outbox, {}, { limit: 1, cursor });
    ids.push(...page.events.map(({ id }) => id));
    if (page.nextCursor === null) return ids;
    cursor = page.nextCursor;
  }
}

it('a number that is written otherwise, or that the column cannot hold, is no id', () => {
  for (const text of ['05', '5.0', '-0', '1e3', '123456', '+5', '']) expect.soft(printsAsDecimal(text, 'numeric(5,0)'), text).toBe(false);
  for (const text of ['5', '5.5', '5.500', '-0.00', '1234.00']) expect.soft(printsAsDecimal(text, 'decimal(5,2)'), text).toBe(false);
  for (const text of ['05', '.5', '5.', '-0.0', '1e3', '']) expect.soft(printsAsDecimal(text, 'numeric'), text).toBe(false);
  for (const text of ['5', '5.5', '-5.500', '0.0']) expect.soft(printsAsDecimal(text, 'numeric'), text).toBe(true);
  expect(printsAsDecimal('1.5', 'double')).toBe(false);
});
