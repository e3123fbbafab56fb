import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MASK } from '@/lib/shared/masked';
import type { Content, OutboxEvent } from '@/lib/shared/model';
import { linksOf } from './links';
import { hiddenValues, presentContent, presentError, presentEvent } from './mask';
import type { Outbox } from './outbox';
import { pathSteps, rawSteps } from './paths';

const outbox = (mask: string[], amount: string[] | null = null, warn?: string): Outbox =>
  ({
    settings: { mask },
    shape: { payload: warn === undefined ? undefined : { encoding: 'bytes', warn } },
    amount: amount === null ? null : { value: amount, currency: null },
    main: { roles: {} },
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

  it('withholds what it cannot search: a cut payload, and text that is no JSON where something is masked', () => {
    const cut = presentContent(outbox([]), 'payload', { head: '{"email":"canary', bytes: 900, binary: false }, false);
    expect(cut).toMatchObject({ text: null, masked: true, cut: true, bytes: 900 });
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
    const hidden = hiddenValues(outbox(['payload.who']), 'payload', stored({ who: { name: 'canary' }, n: 1 }));
    expect(presentError('no mailbox for canary here', hidden)).toBe(`no mailbox for ${MASK} here`);
  });

  it('masks what is left of a hidden value where a long error was cut in it', () => {
    const long = 'x'.repeat(300);
    expect(presentError(`${long} can`, ['canary'])).toBe(`${long} ${MASK}`);
    expect(presentError(`${long} canary, can't`, ['canary'])).toBe(`${long} ${MASK}, can't`);
    expect(presentError('who can', ['canary'])).toBe('who can');
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
