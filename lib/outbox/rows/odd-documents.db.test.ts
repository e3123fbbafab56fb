/** One document that the server cannot take apart costs its own value and no list; what it holds is hidden all the same. */
import { capabilitiesOf } from '../capabilities';
import { describe, expect, it } from 'vitest';
import { ENGINE_KEYS, type OutboxEvent } from '@/lib/shared/model';
import { bindInline, useOpened } from '@/scripts/testing/inline';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { maskErrors } from '../masking/hidden-in-errors';
import { presentContent } from '../masking/mask';
import { listEvents } from '../lists/list-events';
import type { Outbox, OutboxSettings } from '../outbox';
import { contentOf } from './event-content';
import { getEvent } from './get-event';

/** What PostgreSQL gives for `t`; other servers may read more of them. */
const DOCUMENTS: Record<string, { text: string; trace: string | null }> = {
  plain: { text: '{"t":"a"}', trace: 'a' },
  'a NUL beside it': { text: String.raw`{"t":"a","x":"\u0000"}`, trace: null },
  'half a character beside it': { text: String.raw`{"t":"a","x":"\ud800"}`, trace: null },
  'a character in two halves': { text: String.raw`{"t":"\ud83d\ude00"}`, trace: '😀' },
  'what only looks like an escape': { text: String.raw`{"t":"C:\\u0000"}`, trace: String.raw`C:\u0000` },
  'a number beyond every type': { text: '{"t":"a","x":1e200000}', trace: 'a' },
  'deeper than the server reaches': { text: `${'{"t":'.repeat(20_000)}1${'}'.repeat(20_000)}`, trace: null },
  'no JSON': { text: 'boom {', trace: null },
};
/** Bytes that are no text of the server. */
const RAW: Record<string, Buffer | null> = {
  'bytes of another encoding': Buffer.from('{"t":"a","x":"\u00e9"}', 'latin1'),
  'a NUL byte': Buffer.from('{"t":"a","x":"\u0000"}'),
  'half a character': Buffer.from('7b2274223a22eda080227d', 'hex'),
  empty: Buffer.alloc(0),
  none: null,
};
const SECRET = '{"card":"4111-secret"}';
/** More than is read of a payload for a list. */
const LONG = `{"card":"4111-secret","pin":12345678,"rest":"${'x'.repeat(70_000)}"}`;
const LATE = `{"rest":"${'x'.repeat(70_000)}","card":"4111-secret"}`;
/** Rows of a list whose documents are all longer than is read at first. */
const MANY = 6;
/** More than is ever read of one. */
const ENDLESS = `{"rest":"${'x'.repeat(4_300_000)}","card":"4111-secret"}`;

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const [long, bytes, p1, p2, p3] = engine === 'postgres' ? ['text', 'bytea', '$1', '$2', '$3'] : ['longtext', 'longblob', '?', '?', '?'];
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query(`CREATE TABLE documents (id varchar(60) PRIMARY KEY, body ${long} NOT NULL)`);
    for (const [name, { text }] of Object.entries(DOCUMENTS)) await db.query(`INSERT INTO documents VALUES (${p1}, ${p2})`, [name, text]);
    await db.query(`CREATE TABLE raw_documents (id varchar(60) PRIMARY KEY, body ${bytes}, history ${bytes})`);
    const raw = [...Object.entries(DOCUMENTS).map(([name, { text }]) => [name, Buffer.from(text)] as const), ...Object.entries(RAW)];
    for (const [name, body] of raw) {
      const history = body === null ? null : Buffer.concat([Buffer.from('[{"t":"first"},'), body, Buffer.from(']')]);
      await db.query(`INSERT INTO raw_documents VALUES (${p1}, ${p2}, ${p3})`, [name, body, history]);
    }
    await db.query('CREATE TABLE typed (id int PRIMARY KEY, body json NOT NULL)');
    for (const [index, body] of ['{"amount": 5}', String.raw`{"amount": 6, "x": "\u0000"}`].entries())
      await db.query(`INSERT INTO typed VALUES (${p1}, ${p2})`, [index + 1, body]);
    await db.query(`CREATE TABLE paid (id int PRIMARY KEY, body ${long} NOT NULL)`);
    for (const [index, body] of ['{"sum":{"value":"12.30","currency":"EUR"}}', 'twelve', '{"sum":7}', '[]'].entries())
      await db.query(`INSERT INTO paid VALUES (${p1}, ${p2})`, [index + 1, body]);
    await db.query(`CREATE TABLE priced (id int PRIMARY KEY, sum decimal(20,4), ccy char(3), body ${long})`);
    await db.query(`INSERT INTO priced VALUES (1, 12.3, 'EUR', '{"sum": 7}'), (2, NULL, NULL, NULL)`);
    await db.query(`CREATE TABLE told (id int PRIMARY KEY, body ${bytes} NOT NULL, error text)`);
    for (const [index, body] of [SECRET, Buffer.from(SECRET).toString('base64'), LONG, LATE, ENDLESS].entries())
      await db.query(`INSERT INTO told VALUES (${p1}, ${p2}, ${p3})`, [index + 1, Buffer.from(body), 'declined: 4111-secret']);
    await db.query(`CREATE TABLE known (id int PRIMARY KEY, body ${long} NOT NULL, error text)`);
    for (const [index, body] of ['{"password":"hunter2"}', '{"a":[{"Api_Key":["hunter2"]}]}', '{"word":"hunter2"}'].entries())
      await db.query(`INSERT INTO known VALUES (${p1}, ${p2}, ${p3})`, [index + 1, body, 'refused hunter2']);
    await db.query(`CREATE TABLE polled (id int PRIMARY KEY, body ${long} NOT NULL, error text)`);
    for (let id = 1; id <= MANY; id += 1)
      await db.query(`INSERT INTO polled VALUES (${p1}, ${p2}, ${p3})`, [id, LATE, 'declined: 4111-secret']);
    await db.query(`INSERT INTO polled VALUES (${p1}, ${p2}, ${p3})`, [MANY + 1, SECRET, 'declined: 4111-secret']);
  });
  const opened = useOpened(database);
  const bound = (table: string, over: object, settings?: Partial<OutboxSettings>): Promise<Outbox> =>
    bindInline(opened(), table, over, settings);

  it('a text that may be JSON', async () => {
    const outbox = await bound('documents', { columns: { id: 'id', payload: 'body', traceId: { column: 'body', path: ['t'] } } });
    const { events } = await listEvents(outbox, {}, { limit: 50 });
    const found = Object.fromEntries(events.map(({ id, traceId }) => [id, traceId]));
    expect(Object.keys(found).sort()).toEqual(Object.keys(DOCUMENTS).sort());
    if (engine === 'postgres') expect(found).toEqual(Object.fromEntries(Object.entries(DOCUMENTS).map(([id, { trace }]) => [id, trace])));
    else
      expect(found).toMatchObject({
        plain: 'a',
        'what only looks like an escape': String.raw`C:\u0000`,
        'no JSON': null,
        'deeper than the server reaches': null,
      });
  });

  it('bytes that may be JSON: a value by its path, the last of a list, an amount; no row is lost', async () => {
    const columns = {
      id: 'id',
      payload: 'body',
      traceId: { column: 'body', path: ['t'] },
      dedupKey: { column: 'history', last: true, path: ['t'] },
    };
    const over = { columns, payload: { encoding: 'json' } };
    const outbox = await bound('raw_documents', over, { amount: { value: 'payload.t' } });
    expect(capabilitiesOf(outbox).fields.amount).toBe(true);
    const { events } = await listEvents(outbox, {}, { limit: 50 });
    const none = Object.fromEntries(Object.keys(RAW).map((id) => [id, null]));
    const found = Object.fromEntries(events.map(({ id, traceId }) => [id, traceId]));
    expect(Object.keys(found).sort()).toEqual([...Object.keys(DOCUMENTS), ...Object.keys(RAW)].sort());
    expect(found).toMatchObject(none);
    const written = Object.fromEntries(Object.entries(DOCUMENTS).map(([id, { trace }]) => [id, trace]));
    if (engine === 'postgres') expect(found).toEqual({ ...written, ...none });
    else expect(found).toMatchObject({ plain: 'a', 'no JSON': null, 'deeper than the server reaches': null });
    for (const event of events) {
      expect.soft(event.amount, event.id).toBe(event.traceId);
      if (event.traceId !== null) expect.soft(event.dedupKey, event.id).toBe(event.traceId);
    }
    // Of bytes that nothing is said of, no list takes one apart.
    const unsaid = await bound('raw_documents', { columns: { id: 'id', payload: 'body' } }, { amount: { value: 'payload.t' } });
    expect(capabilitiesOf(unsaid).fields.amount).toBe(false);
    expect((await listEvents(unsaid, {}, { limit: 50 })).events.map(({ amount }) => amount)).toEqual(events.map(() => null));
  });

  it('a column that was JSON when it was written', async () => {
    const outbox = await bound('typed', { columns: { id: 'id', payload: 'body' } }, { amount: { value: 'payload.amount' } });
    const { events } = await listEvents(outbox, {}, { limit: 50 });
    expect(Object.fromEntries(events.map(({ id, amount }) => [id, amount]))).toEqual({ 1: '5', 2: engine === 'mysql' ? '6' : null });
  });

  it('an amount in a payload that is kept as text', async () => {
    const amount = { value: 'payload.sum.value', currency: 'payload.sum.currency' };
    const outbox = await bound('paid', { columns: { id: 'id', payload: 'body' } }, { amount });
    const { events } = await listEvents(outbox, { order: 'oldest' }, { limit: 50 });
    expect(capabilitiesOf(outbox).fields.amount).toBe(true);
    expect(events.map((event) => [event.amount, event.currency])).toEqual([
      ['12.30', 'EUR'],
      [null, null],
      [null, null],
      [null, null],
    ]);
  });

  it('an amount in columns of its own, with and without a payload; `payload.` names what lies in the payload', async () => {
    const amount = { value: 'sum', currency: 'ccy' };
    for (const columns of [{ id: 'id' }, { id: 'id', payload: 'body' }]) {
      const outbox = await bound('priced', { columns }, { amount });
      expect(capabilitiesOf(outbox).fields.amount).toBe(true);
      const { events } = await listEvents(outbox, { order: 'oldest' }, { limit: 50 });
      const told = new Map(events.map((event) => [event.id, [event.amount, event.currency]]));
      expect([told.get('1'), told.get('2')]).toEqual([
        ['12.3000', 'EUR'],
        [null, null],
      ]);
    }
    const outbox = await bound('priced', { columns: { id: 'id', payload: 'body' } }, { amount: { value: 'payload.sum' } });
    const { events } = await listEvents(outbox, {}, { limit: 50 });
    expect(events.find(({ id }) => id === '1')?.amount).toBe('7');
  });

  it.each([
    ['text in bytes', '1', undefined],
    ['text in bytes that the mapping speaks of', '1', { encoding: 'json' }],
    ['base64', '2', { encoding: 'base64' }],
    ['a long document', '3', undefined],
    ['the end of a long document', '4', undefined],
  ])('what an error quotes out of %s is hidden', async (_, id, payload) => {
    const outbox = await bound('told', { columns: { id: 'id', payload: 'body', error: 'error' }, payload }, { mask: ['payload.card'] });
    const masked = await maskErrors(outbox, (await listEvents(outbox, {}, { limit: 50 })).events);
    expect(masked.find((event) => event.id === id)?.error).toBe('declined: ••••');
  });

  it.each([
    ['text in bytes', '1', 'json'],
    ['base64', '2', 'base64'],
  ])('headers that are %s are shown as the mapping says, their masked parts hidden, in the error too', async (_, id, encoding) => {
    const over = { columns: { id: 'id', payload: { value: 'x' }, headers: 'body', error: 'error' }, headers: { encoding } };
    const outbox = await bound('told', over, { mask: ['headers.card'] });
    const found = await getEvent(outbox, id);
    if (found === null) throw new Error('The row is there');
    const headers = (await contentOf(outbox, found, false)).headers ?? { head: null, bytes: 0, binary: false };
    expect(presentContent(outbox, 'headers', headers, true)).toMatchObject({ text: SECRET, format: 'json' });
    expect(presentContent(outbox, 'headers', headers, false)).toMatchObject({ text: '{"card":"••••"}', format: 'json', masked: true });
    const masked = await maskErrors(outbox, (await listEvents(outbox, {}, { limit: 50 })).events);
    expect(masked.find((event) => event.id === id)?.error).toBe('declined: ••••');
  });

  it('what an error quotes of a well-known key is hidden without being configured', async () => {
    const outbox = await bound('known', { columns: { id: 'id', payload: 'body', error: 'error' } });
    const { events } = await listEvents(outbox, { order: 'oldest' }, { limit: 50 });
    expect((await maskErrors(outbox, events)).map(({ error }) => error)).toEqual(['refused ••••', 'refused ••••', 'refused hunter2']);
  });

  it('an error is withheld where the payload is too long to be searched', async () => {
    const outbox = await bound('told', { columns: { id: 'id', payload: 'body', error: 'error' } }, { mask: ['payload.card'] });
    const masked = await maskErrors(outbox, (await listEvents(outbox, {}, { limit: 50 })).events);
    expect(masked.find((event) => event.id === '5')?.error).toBe('••••');
  });

  it('a list that is polled searches its long documents a few at a time and each once; what is not there to be searched is withheld', async () => {
    const outbox = await bound('polled', { columns: { id: 'id', payload: 'body', error: 'error' } }, { mask: ['payload.card'] });
    const read = async () => (await listEvents(outbox, {}, { limit: 50 })).events;
    const errorsOf = async (events: OutboxEvent[]) => (await maskErrors(outbox, events)).map(({ error }) => error);
    const seen = await read();
    const hidden = Array<string>(MANY + 1).fill('declined: ••••');
    const first = await errorsOf(seen);
    expect(first.filter((error) => error === '••••')).toHaveLength(2);
    expect(first.filter((error) => error === 'declined: ••••')).toHaveLength(MANY - 1);
    expect(await errorsOf(seen)).toEqual(hidden);

    // A row that is another one now is searched anew.
    await database.query(`UPDATE polled SET body = ${p1}, error = ${p2} WHERE id = 1`, [
      LATE.replace('4111', '4222'),
      'declined: 4222-secret',
    ]);
    expect(await errorsOf(await read())).toEqual(hidden);

    // The relay clears its table away between the list and the search: what was searched is known, the rest is not.
    await database.query(`INSERT INTO polled VALUES (${p1}, ${p2}, ${p3})`, [MANY + 2, SECRET, 'declined: 4111-secret']);
    const late = await read();
    await database.query('DELETE FROM polled');
    expect((await errorsOf(late)).sort()).toEqual([...hidden, '••••'].sort());
  });
});
