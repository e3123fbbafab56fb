/** The way of p95 in docs/ARCHITECTURE.md is the way it goes: the stacks where its rollups are asked for, and where they are read. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PostgresQueryCompiler } from 'kysely';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { sampleTables, shapeCalled } from '@/fixtures/outboxes';
import { documentedWay, ownFrames, ROOT } from '@/fixtures/ways';
import type { RollupSpan } from '@/lib/store/rollups';
import { contextOf, useTestConsole } from '@/scripts/testing/console';
import { useTestDatabase } from '@/scripts/testing/database';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { readOutbox } from './figures';

interface Asked {
  question: unknown;
  stack: string;
}

/**
 * What is asked together is read together: where it was asked is on another stack than where it is read. `gather` puts each question into a
 * list; its module cannot be replaced here, where files share one that is loaded. Answers how to end it.
 */
function hearQuestions(asked: Asked[]): () => void {
  const { push } = Array.prototype;
  const heard = function <T>(this: T[], ...items: T[]): number {
    for (const item of items)
      if (typeof item === 'object' && item !== null && 'question' in item && 'resolve' in item)
        asked[asked.length] = { question: item.question, stack: new Error().stack ?? '' };
    return push.apply(this, items);
  };
  Object.defineProperty(Array.prototype, 'push', { value: heard, writable: true, configurable: true });
  return () => void Object.defineProperty(Array.prototype, 'push', { value: push, writable: true, configurable: true });
}

const database = useTestDatabase();
useTestConsole(
  () => database.url,
  () =>
    `databases: {live: {url: '${database.url}'}}\noutboxes: [{id: orders, database: live, table: shop.outbox_events, shape: published-at}]\n`,
);
beforeAll(async () => {
  await database.query(sampleTables(shapeCalled('published-at'), 'shop').join(';\n'));
  await database.query(
    `insert into shop.outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at, published_at)
      select gen_random_uuid(), 'order', n::text, 'paid', '{}', now() - interval '20 min', now() - interval '19 min' from generate_series(1, 3) as n`,
  );
});

const limit = Error.stackTraceLimit;
const asked: Asked[] = [];
let endHearing = (): void => undefined;
afterEach(() => {
  Error.stackTraceLimit = limit;
  vi.restoreAllMocks();
  endHearing();
});

it('the rollups of p95 are read by the functions the page lists, and a tile is not far', async () => {
  Error.stackTraceLimit = 200;
  const statements: string[] = [];
  const { compileQuery } = PostgresQueryCompiler.prototype;
  vi.spyOn(PostgresQueryCompiler.prototype, 'compileQuery').mockImplementation(function (this: PostgresQueryCompiler, ...given) {
    const compiled = compileQuery.apply(this, given);
    if (compiled.sql.includes('rollup as r')) statements.push(new Error().stack ?? '');
    return compiled;
  });
  const context = await contextOf('viewer');
  endHearing = hearQuestions(asked);
  await vi.waitFor(
    async () => {
      asked.length = 0;
      statements.length = 0;
      const { summary } = await readOutbox(context, 'orders', '1h', { span: { window: '1h' } });
      expect(summary.latency.p95Ms).toBeGreaterThan(59_000);
      // Of a new reading: what was made of the last one is not made again.
      expect(asked.some(({ question }) => isOfAllSeries(question))).toBe(true);
    },
    { timeout: PATIENCE_MS, interval: 500 },
  );

  const there = documentedWay('From its SQL');
  const [action, ...down] = there.filter(({ does }) => !does.startsWith('←')).reverse();
  expect(action?.file).toBe('lib/server/action.ts');
  const { stack } = asked.find(({ question }) => isOfAllSeries(question)) ?? {};
  const read = statements.map((one) => waiting(one)).find((frames) => frames.length > 0) ?? [];
  expect([...waiting(stack), ...read]).toEqual(down.map(({ name, file }) => ({ name, file })));

  const all = [...there, ...documentedWay('To its tile')];
  for (const { name, file } of all) {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    expect(text, `${name} of ${file}`).toMatch(new RegExp(`(const|function|async) ${name}\\b`));
  }
  expect(all.length).toBeLessThanOrEqual(16);
  expect(new Set(all.map(({ file }) => file)).size).toBeLessThanOrEqual(12);
});

/** The window's own, and not the last hour of the verdicts or a chart's line. */
const isOfAllSeries = (question: unknown): boolean =>
  typeof question === 'object' && question !== null && 'tier' in question && (question as RollupSpan).series === undefined;

/** Without what decides when something is done. */
const waiting = (stack = '') => ownFrames(stack).filter(({ file }) => !file.startsWith('lib/shared/async/'));
