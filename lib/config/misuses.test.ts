/** What is wrong with a shape by itself, said before any table is looked at. */
import { expect, it } from 'vitest';
import type { Supported } from './config';
import { withoutWayOut } from '@/scripts/testing/way-out';
import { parseConfig } from './load';

it('says of a mapping which rule, operation or word of it is for nothing', () => {
  const supported: Supported = { shapes: [], words: { refusals: ['archived'], warnings: ['blocked_by_order'] } };
  const reading = parseConfig(
    `
databases: {orders: {url: 'postgresql://reader@db/orders'}}
outboxes:
  - id: mine
    database: orders
    table: t
    shape:
      columns: {id: [a, b, a]}
      states:
        - {state: dead, when: {column: st, in: [1, 2]}}
        - {state: pending, when: {all: [{column: st, equals: 2}, {column: n, above: 0}]}}
        - {state: processing, when: {all: [{column: st, equals: 3}, {column: st, isNull: true}]}}
      operations:
        requeue: [{from: [dead, retrying], version: exact, set: {st: {value: 0}}, warnings: [blocked_by_ordr]}]
        retry: {refuse: because}
      archive: {from: [dead], guard: {column: n, above: {parameter: limit}}, warnings: [blocked_by_order]}
`,
    '/etc/console.yaml',
    supported,
    () => undefined,
  );
  expect(withoutWayOut(reading.ok ? [] : reading.problems)).toEqual([]);
  expect(reading.ok ? [] : reading.problems).toEqual([
    'outboxes[0].shape.archive.guard.above.parameter: outbox mine: there is no parameter "limit"; known: maxAttempts, stuckAfter; write it under parameters.extra',
    'outboxes[0].shape.columns.id: outbox mine: names "a" twice: leave one out',
    'outboxes[0].shape.operations.requeue[0].from[1]: outbox mine: no rule under states gives retrying: write one, or leave it out',
    'outboxes[0].shape.operations.requeue[0].warnings[0]: outbox mine: there is no warning "blocked_by_ordr"; did you mean "blocked_by_order"?',
    'outboxes[0].shape.operations.retry.refuse: outbox mine: there is no refusal "because"; known: archived',
    'outboxes[0].shape.states[1]: outbox mine: is never reached: states[0] takes all of its rows; put it first, or leave it out',
    'outboxes[0].shape.states[2].when: outbox mine: no row can be both: of "st" it asks two things that exclude each other; leave one out, or put them under any',
  ]);
});

it('says that a condition for archive is asked of no row of the dead-letter table', () => {
  const of = (states: string): string[] => {
    const text = `
databases: {orders: {url: 'postgresql://reader@db/orders'}}
outboxes:
  - id: mine
    database: orders
    table: t
    shape:
      columns: {id: id}
      dead: {table: t_dead}
      states: [${states}]
      archive: {from: [dead], guard: {column: held_by, isNull: true}}
`;
    const reading = parseConfig(text, '/etc/console.yaml', { shapes: [] }, () => undefined);
    return reading.ok ? [] : reading.problems;
  };
  const pending = '{state: pending, when: {always: true}}';
  const unasked = 'outboxes[0].shape.archive.guard: outbox mine: is never asked: rows of the dead-letter table need none; leave it out';
  expect(of(pending)).toEqual([unasked]);
  expect(of(`{state: dead, when: {column: n, above: 3}}, ${pending}`)).toEqual([]);
});

it('refuses a built-in shape on an engine that it is not for, and names the one that is', () => {
  const of = (shape: string): string[] => {
    const supported: Supported = {
      shapes: [
        { key: 'cap-pg', engines: ['postgres'], parameters: { timeZone: 'UTC' } },
        { key: 'cap-mysql', engines: ['mysql'], parameters: { timeZone: 'UTC' } },
        { key: 'mine', engines: ['mysql'], parameters: { timeZone: 'UTC' } },
      ],
    };
    const text = `databases: {shop: {url: 'postgresql://reader@db/shop'}}\noutboxes: [{id: a, database: shop, table: t, shape: ${shape}}]`;
    const reading = parseConfig(text, '/etc/console.yaml', supported, () => undefined);
    return reading.ok ? [] : reading.problems;
  };
  const already = (shape: string): string =>
    `outboxes[0].shape: outbox a: ${shape} is a shape of MySQL or MariaDB, and database shop is PostgreSQL`;
  expect(of('cap-pg')).toEqual([]);
  expect(of('cap-mysql')).toEqual([`${already('cap-mysql')}; did you mean "cap-pg"?`]);
  expect(of('mine')).toEqual([`${already('mine')}; write a mapping of your own`]);
});
