import { describe, expect, it } from 'vitest';
import type { Supported } from './config';
import { parseConfig } from './load';

const SUPPORTED: Supported = {
  shapes: ['published-at', 'masstransit-message', 'masstransit-state', 'pg-boss-10'].map((key) => ({
    key,
    engines: ['postgres', 'mysql'],
    parameters: { timeZone: 'UTC' },
  })),
};

function problems(text: string): string[] {
  const reading = parseConfig(text, '/etc/console.yaml', SUPPORTED, () => undefined);
  return reading.ok ? [] : reading.problems;
}

const HEAD = `databases:
  shop: {url: 'postgresql://reader@db/shop'}
outboxes:
`;
/** Lines 4 and on. */
const file = (first: string): string => `${HEAD}${first}
  - id: Bad Id
    database: nowhere
    table: t
    shape: publishd-at
`;
/** What is wrong with the second outbox, whatever the first one looks like. */
const SECOND = [
  'outboxes[1].database: outbox Bad Id: there is no database "nowhere" under databases; known: shop',
  'outboxes[1].id: write a slug: small letters, digits and single dashes, for instance orders-kafka',
  'outboxes[1].shape: outbox Bad Id: there is no shape "publishd-at"; did you mean "published-at"? Or write a mapping of your own',
];
const REST = '    table: t\n    shape: published-at';

describe('a file that is not all YAML', () => {
  it.each([
    [
      'a bracket',
      `  - id: a\n    database: shop\n    mask: [x\n${REST}`,
      'outboxes[0].mask: outbox a: not YAML at line 6, column 11: a bracket that is not',
    ],
    [
      'a quote',
      `  - id: a\n    database: shop\n    name: "x\n${REST}`,
      'outboxes[0].name: outbox a: not YAML at line 6, column 11: a quote that is not',
    ],
    [
      'a tab',
      `  - id: a\n\tdatabase: shop\n${REST}`,
      'outboxes[0].id: not YAML at line 5, column 2: a tab at the beginning; indent with spaces',
    ],
    [
      'too far left',
      `  - id: a\n   database: shop\n${REST}`,
      'outboxes[0]: outbox a: not YAML at line 5, column 4: neither "key: value" nor',
    ],
    ['too far right', `  - id: a\n     database: shop\n${REST}`, 'outboxes[0].id: not YAML at line 4, column 9: a second ": "'],
    ['no colon', `  - id: a\n    database shop\n${REST}`, 'outboxes[0]: outbox a: not YAML at line 5, column 5: neither "key: value" nor'],
    [
      'two colons',
      `  - id: a\n    database: shop\n    name: it: is\n${REST}`,
      'outboxes[0].name: outbox a: not YAML at line 6, column 11: a second ": "',
    ],
    [
      'a key twice',
      `  - id: a\n    database: shop\n    table: x\n${REST}`,
      '(file): not YAML at line 7, column 5: table is there already; write it',
    ],
    [
      'a sign',
      `  - id: a\n    database: shop\n    name: @b\n${REST}`,
      'outboxes[0].name: outbox a: not YAML at line 6, column 11: a character that no',
    ],
  ])('%s: says where and what to do, and every other problem with it', (_, first, start) => {
    const found = problems(file(first));
    expect(found.filter((line) => line.includes('not YAML'))).toEqual([expect.stringContaining(start)]);
    expect(found.filter((line) => !line.includes('not YAML'))).toEqual(SECOND);
  });

  it('goes on inside the outbox and the mapping that hold the error', () => {
    expect(
      problems(`${HEAD}  - id: a
    database: shop
    table: t
    mask: ['a b']
    shape:
      columns: {id: id}
      states:
        - {state: pending, when: {always: true}
        - {state: gone, when: {always: true}}
`),
    ).toEqual([
      'outboxes[0].mask[0]: outbox a: write a path such as payload.customer.email or headers.authorization',
      'outboxes[0].shape.states[0]: outbox a: not YAML at line 11, column 11: a bracket that is not closed; close it, and indent what is inside it',
      'outboxes[0].shape.states[1].state: outbox a: write one of pending, retrying, processing, published, dead',
    ]);
  });

  it('says nothing against an outbox because its database cannot be read', () => {
    const outboxes =
      'outboxes:\n- {id: x, database: a, table: t, shape: published-at}\n- {id: y, database: c, table: t, shape: published-at}';
    const told = (databases: string): string[] =>
      problems(`databases${databases}\n${outboxes}`).filter((line) => !line.includes('not YAML'));
    expect(told(": \n  a: {url: x\n  b: {url: 'postgresql://x@db/b'}")).toEqual([expect.stringMatching(/^outboxes\[1\]\.database: /)]);
    expect(told("\n  a: {url: 'postgresql://x@db/a'}")).toEqual([]);
    expect(told(": {a: {url: 'postgresql://x@db/a'}}\ndatabases: {b: {url: 'postgresql://x@db/b'}}")).toEqual([]);
  });

  it('explains a variable without quotes among braces, and a second document', () => {
    expect(problems('databases: {orders: {url: ${READER}}}\noutboxes: 5')).toEqual([
      'databases: not YAML at line 1, column 28: braces inside braces; put "${…}" in quotes',
      'outboxes: write a list, not a number',
    ]);
    expect(problems('databases: {}\n---\noutboxes: []')).toEqual([
      '(file): not YAML at line 2, column 1: a second document begins; write one, and leave out the line ---',
    ]);
  });
});

it('names the shapes that hold the word that was written, or all where none is near', () => {
  const of = (shape: string): string | undefined => problems(`${HEAD}  - {id: a, database: shop, table: t, shape: ${shape}}`)[0];
  expect(of('masstransit')).toContain('did you mean "masstransit-message" or "masstransit-state"? Or write a mapping of your own');
  expect(of('pgboss')).toContain('did you mean "pg-boss-10"?');
  expect(of('oracle-aq')).toContain(
    '; known: published-at, masstransit-message, masstransit-state, pg-boss-10; or write a mapping of your own',
  );
});
