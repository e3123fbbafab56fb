import pino from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DatabaseFailure, FAILURE_CODES } from '@/lib/database/failure';
import { Problem } from '@/lib/shared/problems';
import { failureLine, failureLog } from './failure-log';

const LOG = Symbol.for('outbox-console.log');
const holder = globalThis as { [LOG]?: unknown };
let lines: Record<string, unknown>[] = [];
beforeEach(() => {
  lines = [];
  holder[LOG] = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
});
afterEach(() => {
  holder[LOG] = undefined;
});

it.each(FAILURE_CODES)('says in a sentence what %s is, without what the driver said', (code) => {
  const line = failureLine(new DatabaseFailure(code, 'X1', new Error('value 4711')), 'shop');
  expect(line?.text).toMatch(/\w+ \w+/);
  expect(JSON.stringify(line)).not.toContain('4711');
});

it('names the database and the cure', () => {
  const of = (code: DatabaseFailure['code'], state: string): string | undefined =>
    failureLine(new DatabaseFailure(code, state, null), 'shop')?.text;
  expect(of('no_privilege', '42501')).toMatch(/database shop lacks a privilege.*install/);
  expect(of('other', '28P01')).toMatch(/Database shop: .*check user and password/);
  expect(of('connection', 'ECONNREFUSED')).toMatch(/Database shop: .*check host and port/);
});

it('says a problem by what is behind it, and leaves a fault of our own to its stack', () => {
  const cause = new DatabaseFailure('connection', 'ECONNREFUSED', null);
  expect(failureLine(new Problem('unavailable', 'away', { cause }), 'shop')).toMatchObject({ code: 'connection', state: 'ECONNREFUSED' });
  expect(failureLine(new TypeError('x is not a function'), 'shop')).toBeNull();
});

it('logs the same failure of one database once a minute, whichever outboxes and tasks meet it', () => {
  let now = 0;
  const complain = failureLog(() => now);
  const away = new DatabaseFailure('connection', 'ECONNREFUSED', new Error('connect'));
  for (const outbox of ['a', 'b', 'c']) complain({ database: 'shop', outbox }, 'the figures could not be read', away);
  complain({ database: 'shop', outbox: 'a' }, 'the history could not be collected', away);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ database: 'shop', code: 'connection', state: 'ECONNREFUSED' });
  expect(JSON.stringify(lines)).not.toContain('stack');
  complain({ database: 'mail' }, 'the figures could not be read', away);
  complain({ database: 'shop' }, 'the figures could not be read', new DatabaseFailure('no_privilege', '42501', null));
  expect(lines).toHaveLength(3);
  now = 60_000;
  complain({ database: 'shop', outbox: 'a' }, 'the figures could not be read', away);
  expect(lines).toHaveLength(4);
  complain({ database: 'shop' }, 'the figures could not be read', new TypeError('x is not a function'));
  expect(JSON.stringify(lines[4])).toContain('stack');
});
