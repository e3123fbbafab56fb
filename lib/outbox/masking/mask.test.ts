import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MASK, type Content } from '@/lib/shared/lists/shown';
import type { OutboxEvent } from '@/lib/shared/model';
import { maskProblems } from './hidden-fields';
import { linksOf } from '../rows/links';
import { maskErrorBeside, presentError } from './hidden-in-errors';
import { hiddenValues, presentContent, presentEvent } from './mask';
import type { Outbox } from '../outbox';
import { pathSteps, rawSteps } from '@/lib/shared/lists/document-path';

const outbox = (mask: string[], amount: string[] | null = null, warn?: string): Outbox =>
  ({
    settings: { mask, shape: { columns: {} }, amount: amount === null ? null : { value: `payload.${amount.join('.')}` } },
    shape: { payload: warn === undefined ? undefined : { encoding: 'bytes', warn } },
  }) as unknown as Outbox;
const stored = (value: unknown) => {
  const head = typeof value === 'string' ? value : JSON.stringify(value);
  return { head, bytes: Buffer.byteLength(head), binary: false };
};
const seen = (mask: string[], value: unknown, unmask = false) => presentContent(outbox(mask), 'payload', stored(value), unmask);

describe('paths', () => {
  it('reads dots, brackets and quotes', () => {
    expect(rawSteps('payload.customer.email')).toEqual(['payload', 'customer', 'email']);
    expect(pathSteps('$.items[*]["unit.price"]')).toEqual(['items', '*', 'unit.price']);
  });
});

describe('masking', () => {
  it('hides configured paths from a viewer and leaves the rest to the digit', () => {
    const text = '{"customer":{"mail":"canary@example.com","n":12345678901234567890},"rate":1.10}';
    const content = seen(['payload.customer.mail'], text);
    expect(content).toMatchObject({ masked: true, format: 'json' });
    expect(content.text).toBe(`{"customer":{"mail":"${MASK}","n":12345678901234567890},"rate":1.10}`);
  });

  it('shows an operator the text as it is stored', () => {
    const text = '{ "customer": {"mail":"canary@example.com"} }';
    expect(seen(['payload.customer.mail'], text, true)).toMatchObject({ text, masked: false });
  });

  it('takes *, **, array indexes and paths without a column in front', () => {
    expect(seen(['items.*.owner'], { items: [{ owner: 'canary' }, { owner: 'canary' }] }).text).not.toContain('canary');
    expect(seen(['**.owner'], { a: { b: [{ owner: { deep: 'canary' } }] } }).text).not.toContain('canary');
    expect(seen(['items[1]'], { items: ['ok', 'canary'] }).text).toBe(`{"items":["ok","${MASK}"]}`);
    expect(seen(['headers.owner'], { owner: 'shown' }).text).toBe('{"owner":"shown"}');
  });

  it('hides well-known secrets without being told', () => {
    for (const key of ['password', 'access_token', 'Authorization', 'iban', 'cvv', 'email', 'phone_number'])
      expect(seen([], { a: { [key]: 'canary' } }).text).not.toContain('canary');
  });

  it('hides a value that is null as any other, and takes the last of a key that is written twice', () => {
    expect(seen([], { password: null }).text).toBe(seen([], { password: 'canary' }).text);
    expect(seen([], '{"password":"canary","password":"other"}').text).toBe(`{"password":"${MASK}"}`);
  });

  it('tells the size of what is shown, not of what is hidden', () => {
    const [a, b] = ['canary', 'c"n\\äy'].map((password) => seen([], { password }));
    expect(a).toEqual(b);
    expect(a?.bytes).toBe(Buffer.byteLength(a?.text ?? ''));
  });

  it('withholds what looks like JSON and is none, and masks other text by its looks', () => {
    expect(seen([], '{"password":"canary"}\n{"password":"canary"}')).toMatchObject({ text: null, masked: true, bytes: 0 });
    expect(seen([], 'user=7&password=canary')).toMatchObject({ text: `user=7&password=${MASK}`, masked: true });
  });

  it('withholds what it cannot search: a cut payload, and text that is no JSON where something is masked', () => {
    const cut = presentContent(outbox([]), 'payload', { head: '{"email":"canary', bytes: 900, binary: false }, false);
    expect(cut).toMatchObject({ text: null, masked: true, cut: true, bytes: 0 });
    expect(seen(['payload.x'], 'canary, plain')).toMatchObject({ text: null, masked: true });
    expect(seen([], 'plain')).toMatchObject({ text: 'plain', masked: false });
    expect(presentContent(outbox([]), 'payload', { head: 'cafe', bytes: 2, binary: true }, false).text).toBeNull();
  });

  it('never lets a canary through, wherever it is put', () => {
    const key = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'x.y', '0');
    const tree = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constant('CANARY'),
        fc.integer(),
        fc.constant(null),
        fc.dictionary(key, tie('node')),
        fc.array(tie('node'), { maxLength: 3 }),
      ),
    })).node;
    fc.assert(
      fc.property(tree, (value) => {
        expect(seen(['payload.**.*', 'payload.*'], { value }).text ?? '').not.toContain('CANARY');
      }),
    );
    expect(Object.prototype).not.toHaveProperty('CANARY');
  });

  it('survives nesting that would end a careless walker', () => {
    const deep = `${'['.repeat(2_000)}"canary"${']'.repeat(2_000)}`;
    expect(seen(['payload.**.x'], deep).text ?? '').not.toContain('canary');
  });

  it('masks the amount where its path is masked, and hidden values inside an error text', () => {
    const event = { amount: '10.00', currency: 'EUR', traceId: null } as OutboxEvent;
    expect(presentEvent(outbox(['payload.amount'], ['amount']), event, false).amount).toBeNull();
    expect(presentEvent(outbox(['payload.other'], ['amount']), event, false).amount).toBe('10.00');
    const hidden = hiddenValues(outbox(['payload.who']), 'payload', stored({ who: { name: 'canary' }, n: 1 })) ?? [];
    expect(presentError('no mailbox for canary here', hidden)).toBe(`no mailbox for ${MASK} here`);
  });

  it('hides a field that is read out of a masked place', () => {
    const of = (mask: string[], columns: object) => ({ settings: { mask, amount: null, shape: { columns } } }) as unknown as Outbox;
    const columns = {
      payload: 'body',
      headers: 'meta',
      type: { column: 'BODY', path: ['kind'] },
      dedupKey: { column: 'meta', path: ['token'] },
      topic: { column: 'meta', path: ['route'] },
    };
    const event = { type: 'paid', topic: 'a.paid', dedupKey: 'k', aggregateId: 'a' } as OutboxEvent;
    expect(presentEvent(of(['payload.kind'], columns), event, false)).toEqual({ ...event, type: null, dedupKey: null });
    expect(presentEvent(of(['headers.route'], columns), event, false)).toEqual({ ...event, topic: null, dedupKey: null });
    expect(presentEvent(of([], columns), event, true)).toEqual(event);
    expect(presentEvent(of([], { ...columns, dedupKey: { join: 'meta', column: 'meta', path: ['token'] } }), event, false)).toEqual(event);
    expect(maskProblems(of(['at'], { payload: 'body', createdAt: { column: 'body', path: ['at'] } }).settings)).toEqual([
      { path: ['mask'], message: expect.stringContaining('createdAt') as string },
    ]);
  });

  it('masks what stands deeper than is looked, and short values of a document that is no JSON', () => {
    let deep: unknown = { who: 'canary' };
    for (let level = 0; level < 80; level += 1) deep = { deeper: deep };
    expect(JSON.stringify(seen(['payload.**.who'], deep).text)).not.toContain('canary');
    expect(presentError('no such bird: canary', hiddenValues(outbox([]), 'payload', stored(deep)) ?? [])).toBe(`no such bird: ${MASK}`);
    // Half a megabyte of numbers in one masked place, each of which may be quoted.
    const many = hiddenValues(
      outbox(['payload.who']),
      'payload',
      stored({ who: Array.from({ length: 250_000 }, (_, index) => index % 10) }),
    );
    expect(many).toHaveLength(250_000);
    const broken = hiddenValues(outbox([]), 'payload', stored('{"cvv": "123", "n": 45')) ?? [];
    expect(presentError('123 refused, 45 too', broken)).toBe(`${MASK} refused, ${MASK} too`);
  });

  it('withholds an error beside content without paths, where anything is masked: any of it may be what is meant', () => {
    const event = { payload: { ...stored('<who>canary</who>') }, headers: null };
    expect(maskErrorBeside(outbox(['payload.who']), 'no such bird: canary', event)).toBe(MASK);
    const bytes = { head: Buffer.from([0, 255, 99]).toString('hex'), bytes: 3, binary: true };
    expect(maskErrorBeside(outbox(['payload.who']), 'no such bird: canary', { payload: bytes, headers: null })).toBe(MASK);
    expect(maskErrorBeside(outbox([]), 'no such bird: canary', event)).toBe('no such bird: canary');
    expect(maskErrorBeside(outbox(['payload.who']), 'no such bird', { payload: stored({ who: 'canary' }), headers: null })).toBe(
      'no such bird',
    );
  });

  it('masks what is left of a hidden value where a long error was cut in it', () => {
    const long = 'x'.repeat(300);
    expect(presentError(`${long} can`, ['canary'])).toBe(`${long} ${MASK}`);
    expect(presentError(`${long} canary, can't`, ['canary'])).toBe(`${long} ${MASK}, can't`);
    expect(presentError(`${long} ca`, ['canary'], true)).toBe(`${long} ${MASK}`);
    expect(presentError('who can', ['canary'])).toBe('who can');
  });
});

describe('a value that an error quotes', () => {
  const shown = (error: string, ...hidden: string[]) => presentError(error, hidden);

  it('is hidden as JSON and addresses write it, beside another one, and over another one', () => {
    expect(shown('no "a\\"b c" at /a%22b%20c', 'a"b c')).toBe(`no "${MASK}" at /${MASK}`);
    expect(shown('for JaneDoe', 'Jane', 'Doe', 'neDo')).toBe(`for ${MASK}`);
  });

  it('is a word of its own where it is short, and a number of its own where it has few digits', () => {
    expect(shown('pin 42 of order-4200, code 123 of 12345', '42', '123')).toBe(`pin ${MASK} of order-4200, code ${MASK} of 12345`);
    expect(shown('x4111111111111111x', '4111111111111111')).toBe(`x${MASK}x`);
  });

  it('is hidden by where it stands and how long it is, whatever it says', () => {
    const value = fc.string({ unit: fc.constantFrom(...'QWERTYUIOPÄß"\\/%'), minLength: 1, maxLength: 12 });
    const other = fc.string({ unit: fc.constantFrom(...'ZXCVBNMKJHÖñ'), minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(value, other, fc.array(fc.constantFrom('refused ', 'card: ', '; ', null), { maxLength: 8 }), (a, b, parts) => {
        const of = (one: string) => parts.map((part) => part ?? ` ${one.padEnd(12, 'q')} `).join('');
        expect(shown(of(a), a.padEnd(12, 'q'))).toBe(shown(of(b), b.padEnd(12, 'q')));
      }),
    );
  });

  it('is hidden up to where a text was cut, by characters as databases count them', () => {
    const value = fc.string({ unit: fc.constantFrom(...'QWÄ😀한"\\/%'), minLength: 12, maxLength: 12 });
    const other = fc.string({ unit: fc.constantFrom(...'ZXC🚚Öñ"'), minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(value, other, fc.integer({ min: 0, max: 24 }), (a, b, kept) => {
        const of = (one: string) => presentError(`${'x'.repeat(490)} ${[...one].slice(0, kept).join('')}`, [one], true);
        expect(of(a)).toBe(of(b));
      }),
    );
  });
});

describe('what the shape says of its payload', () => {
  const read = (role: 'payload' | 'headers', head: string | null, unmask: boolean) =>
    presentContent(outbox([], null, 'python_pickle'), role, { head, bytes: 2, binary: true }, unmask).warning;

  it('is told with it, masked or not, and of nothing else', () => {
    expect([read('payload', 'cafe', true), read('payload', 'cafe', false)]).toEqual(['python_pickle', 'python_pickle']);
    expect([read('headers', 'cafe', true), read('payload', null, true), seen([], 'plain').warning]).toEqual([null, null, null]);
  });
});

describe('links', () => {
  const event = { id: 'a/b', aggregateId: 'order-1', error: null } as OutboxEvent;
  const payload: Content = {
    text: '{"order":{"id":9007199254740993}}',
    format: 'json',
    bytes: 30,
    bytesKnown: 'exact',
    unread: null,
    shownBytes: 30,
    cut: false,
    masked: false,
    warning: null,
  };
  const to = (url: string, content = payload) => linksOf([{ label: 'x', url }], event, content, null).map((link) => link.url);

  it('fills fields and payload paths in, encoded, digits exact', () => {
    expect(to('https://shop.example/{aggregateId}?e={id}&o={payload.order.id}')).toEqual([
      'https://shop.example/order-1?e=a%2Fb&o=9007199254740993',
    ]);
  });

  it('leaves out what would lead nowhere or run something', () => {
    expect(to('https://shop.example/{traceId}')).toEqual([]);
    expect(to('javascript:alert({id})')).toEqual([]);
    expect(to('https://shop.example/{payload.order.id}', { ...payload, masked: true })).toEqual([]);
  });
});
