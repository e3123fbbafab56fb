import { expect, test } from 'vitest';
import { OPERATIONS } from '@/lib/interventions/operations';
import { OPERATION_KEYS } from '@/lib/shared/changes/fates';
import { parseConfig, SUPPORTED } from './load';

const FILE = `databases: {d: {url: postgresql://r@h/d}}
outboxes: [{id: escrow, database: d, table: t, shape: published-at, consumers: {order_complete: idempotent, refund: not}}]
`;
const read = (more: string) => parseConfig(`${FILE}${more}`, '/c.yaml', SUPPORTED, () => undefined);
const problems = (more: string): string[] => {
  const reading = read(more);
  return reading.ok ? [] : reading.problems;
};

test('rules are read with what they leave out, amounts as decimal text', () => {
  const reading = read(`approvals:
  - {outboxes: [escrow], operations: [requeue, archive], rows: 200, amount: {EUR: "10000.50", JPY: 9}, notIdempotent: true}
  - {}
`);
  expect(reading).toMatchObject({
    ok: true,
    config: {
      outboxes: [{ consumers: { order_complete: 'idempotent', refund: 'not' } }],
      approvals: [
        { outboxes: ['escrow'], operations: ['requeue', 'archive'], rows: 200, amount: { EUR: '10000.50', JPY: '9' }, notIdempotent: true },
        { outboxes: null, operations: null, rows: null, amount: null, notIdempotent: false },
      ],
      unused: [],
    },
  });
  expect(read('')).toMatchObject({ ok: true, config: { approvals: [] } });
});

test('what would ask nobody is named by its path', () => {
  expect(problems('approvals: [{outboxes: [escro], operations: [requeu, "*"], rows: -1, row: 3}]')).toEqual([
    'approvals[0].operations[0]: there is no operation "requeu"; did you mean "requeue"?',
    expect.stringMatching(/^approvals\[0\]\.operations\[1\]: there is no operation "\*"; known: /),
    'approvals[0].outboxes[0]: there is no outbox "escro"; did you mean "escrow"?',
    expect.stringMatching(/^approvals\[0\]\.row: unknown key/),
    'approvals[0].rows: write a whole number from 0 to 1000000',
  ]);
  expect(problems('approvals: [{outboxes: [], amount: {}}, {amount: {EUR: 99.5}}, {amount: {EUR: "1e3"}}, {amount: {EUR: "-1"}}]')).toEqual(
    [
      'approvals[0].amount: write at least one currency, or leave it out',
      'approvals[0].outboxes: write at least one, or leave it out for all',
      'approvals[1].amount.EUR: write a whole number or text, not a number',
      'approvals[2].amount.EUR: write an amount in quotes, such as "10000" or "99.50"',
      'approvals[3].amount.EUR: write an amount in quotes, such as "10000" or "99.50"',
    ],
  );
  expect(problems('approvals: {rows: 5}')).toHaveLength(1);
});

test('a consumer is idempotent or not', () => {
  const file = FILE.replace('refund: not', 'refund: maybe');
  const reading = parseConfig(file, '/c.yaml', SUPPORTED, () => undefined);
  expect(reading).toMatchObject({
    ok: false,
    problems: [expect.stringMatching(/outboxes\[0\]\.consumers\.refund: .*write one of idempotent, not/)],
  });
});

test('the operations that rules may name are all there are', () => {
  expect([...OPERATION_KEYS]).toEqual(OPERATIONS.map(({ key }) => key));
});
