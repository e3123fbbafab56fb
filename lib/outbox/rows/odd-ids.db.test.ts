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
const UUIDS = ['5f0c1f1e-0b7b-4a7e-9c9d-1a2b3c4d5e6f', '00000000-0000-0000-0000-000000000000'];
const SIXTEEN = UUIDS.map((uuid) => uuid.replaceAll('-', ''));
/** Texts, then bytes that are none: a byte alone, half a character, NUL, and what an id of those looks like. */
const KEYS = ['order-8812', '주문-1', '😀', ' leads', ''].map((key) => Buffer.from(key).toString('hex'));
const NO_KEYS = ['ff', 'eda080', '610062', Buffer.from('\\x41').toString('hex'), 'c080', 'f4908080'];
const bytes = (digits: string[]) => ({ postgres: digits.map((one) => `'\\x${one}'`), mysql: digits.map((one) => `x'${one}'`) });
interface Table {
  type: Record<'postgres' | 'mysql', string>;
  ids: string[] | Record<'postgres' | 'mysql', string[]>;
  over?: object;
  /** What the ids are shown as; the order is the list's. */
  shown?: string[];
}
const TABLES: Record<string, Table> = {
  whole_numbers: { type: { postgres: 'numeric(20)', mysql: 'decimal(20)' }, ids: ['18446744073709551610', '-5', '0'] },
  places: { type: { postgres: 'numeric(12,2)', mysql: 'decimal(12,2)' }, ids: ['10.50', '-0.25', '0.00', '9999999999.99'] },
  any_places: { type: { postgres: 'numeric', mysql: 'decimal(12,3)' }, ids: ['1.5', '2.50', '-0.001', '7', '0'] },
  huge: { type: { postgres: 'numeric(38)', mysql: 'decimal(38)' }, ids: ['-99999999999999999999999999999999999999', '7'] },
  padded: { type: { postgres: 'integer', mysql: 'int(6) unsigned zerofill' }, ids: ['7', '1234567'] },
  bytes: { type: { postgres: 'bytea', mysql: 'varbinary(16)' }, ids: BYTES },
  uuids: {
    type: { postgres: 'bytea', mysql: 'binary(16)' },
    ids: bytes(SIXTEEN),
    over: { bytes: { id: 'uuid' } },
    shown: UUIDS,
  },
  other_uuids: {
    type: { postgres: 'bytea', mysql: 'varbinary(20)' },
    ids: bytes([...SIXTEEN, 'ab', '']),
    over: { bytes: { ID: 'uuid' } },
    shown: [...UUIDS, '\\xab', '\\x'],
  },
  text_keys: {
    type: { postgres: 'bytea', mysql: 'varbinary(64)' },
    ids: bytes([...KEYS, ...NO_KEYS]),
    over: { bytes: { id: 'text' } },
    shown: ['order-8812', '주문-1', '😀', ' leads', '', ...NO_KEYS.map((digits) => `\\x${digits}`)],
  },
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
    await db.query(`CREATE TABLE noise (id ${TABLES.text_keys?.type[engine] ?? ''} PRIMARY KEY, made_at timestamp NOT NULL)`);
    const rows = bytes(NOISE)[engine].map((id) => `(${id}, '2026-01-01 00:00:01')`);
    await db.query(`INSERT INTO noise VALUES ${rows.join(', ')}`);
  });
  const opened = useOpened(database);

  it.each(Object.entries(TABLES))('%s', async (table, { ids, over, shown }) => {
    const outbox = await bindInline(opened(), table, { columns: { id: 'id', createdAt: 'made_at' }, ...over });
    const { events } = await listEvents(outbox, {}, { limit: 50 });
    expect(events).toHaveLength((Array.isArray(ids) ? ids : ids[engine]).length);
    if (shown !== undefined) expect(events.map(({ id }) => id).sort()).toEqual([...shown].sort());
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

  it('sixteen bytes that nothing is said of are found by the UUID they are, however it is written, and shown as digits', async () => {
    const outbox = await bindInline(opened(), 'uuids', { columns: { id: 'id', createdAt: 'made_at' } });
    const [uuid = '', digits = ''] = [UUIDS[0], SIXTEEN[0]];
    const id = engine === 'postgres' ? `\\x${digits}` : digits;
    for (const text of [uuid, uuid.toUpperCase(), id]) {
      expect.soft((await getEvent(outbox, text))?.event.id, text).toBe(id);
      expect.soft((await listEvents(outbox, { q: text }, { limit: 5 })).events.map((event) => event.id)).toEqual([id]);
    }
    for (const text of [uuid.slice(1), `${uuid}0`, uuid.replaceAll('-', ':'), '', 'x'])
      expect.soft(await getEvent(outbox, text), text).toBeNull();
  });

  it('any bytes are shown as the text they are, or as digits where they are none, each found again', async () => {
    const outbox = await bindInline(opened(), 'noise', { columns: { id: 'id', createdAt: 'made_at' }, bytes: { id: 'text' } });
    const found = new Map<string, string>();
    for (let cursor: string | undefined; ;) {
      const page = await listEvents(outbox, {}, { limit: 100, cursor });
      for (const { id } of page.events) found.set(id, digitsOfText(id));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect([...found.values()].sort()).toEqual([...NOISE].sort());
    expect([...found.keys()].sort()).toEqual(NOISE.map(shownAs).sort());
    for (const id of [...found.keys()].slice(0, 25)) expect.soft((await getEvent(outbox, id))?.event.id, id).toBe(id);
  });
});

/** Short runs of bytes around every border of UTF-8, the same in every run. */
const NOISE = [
  ...new Set(
    Array.from({ length: 600 }, (_, seed) => {
      const edges = [0x00, 0x01, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff]; // prettier-ignore
      const bytes = [0, 1, 2, 3].map((place) => edges[Math.floor(seed / 24 ** place + seed * (place + 1) * 7.31) % edges.length] ?? 0);
      return Buffer.from(bytes.slice(0, 1 + (seed % 4))).toString('hex');
    }),
  ),
];

function shownAs(digits: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(digits, 'hex'));
    return text.includes('\u0000') ? `\\x${digits}` : text;
  } catch {
    return `\\x${digits}`;
  }
}

const digitsOfText = (id: string): string => (id.startsWith('\\x') ? id.slice(2) : Buffer.from(id).toString('hex'));

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
