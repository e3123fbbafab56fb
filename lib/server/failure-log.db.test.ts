import { randomBytes } from 'node:crypto';
import pino from 'pino';
import { afterAll, expect, it } from 'vitest';
import { useTestConsole } from '@/scripts/testing/console';
import { useTestDatabase } from '@/scripts/testing/database';
import { getConsole } from './console';

const LOG = Symbol.for('outbox-console.log');
const holder = globalThis as { [LOG]?: unknown };
const before = holder[LOG];
const lines: Record<string, unknown>[] = [];
holder[LOG] = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
afterAll(() => {
  holder[LOG] = before;
});

const LOOKER = `looker_${randomBytes(4).toString('hex')}`;
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const database = useTestDatabase(async ({ query }) => {
  for (const name of NAMES)
    await query(`CREATE TABLE ${name} (id uuid PRIMARY KEY, aggregate_type text NOT NULL, aggregate_id text NOT NULL, event_type text NOT NULL, payload jsonb NOT NULL,
      headers jsonb, dedup_key text, created_at timestamptz NOT NULL DEFAULT now(), published_at timestamptz, attempt smallint NOT NULL DEFAULT 0)`);
  await query(`CREATE ROLE ${LOOKER} LOGIN PASSWORD 'looker'`);
});
useTestConsole(
  () => database.url,
  () => `databases:
  shop: {url: '${database.urlFor(LOOKER, 'looker')}'}
  away: {url: 'postgres://nobody@127.0.0.1:1/nothing'}
outboxes:
${['shop', 'away'].flatMap((db) => NAMES.map((name) => `  - {id: ${db}-${name}, database: ${db}, table: ${name}, shape: published-at}`)).join('\n')}
`,
);

it('starts over a database it may not read and one that is away with a line each, which says what to do', async () => {
  const { snapshots, directory } = await getConsole();
  const failed = await Promise.all(
    directory.ids.map((id) =>
      snapshots.summary(id, '1h').then(
        () => null,
        (error: unknown) => error,
      ),
    ),
  );
  expect(failed).toHaveLength(10);
  await expect.poll(() => new Set(lines.map((line) => line.database)).size, { timeout: 20_000 }).toBe(2);
  const text = JSON.stringify(lines);
  expect(text).not.toContain('"stack"');
  expect(lines.filter((line) => line.database === 'away').map((line) => line.msg)).toEqual([
    expect.stringMatching(/Database away: .*check host and port/),
  ]);
  expect(new Set(lines.filter((line) => line.database === 'shop').map((line) => line.code)).size).toBe(
    lines.filter((line) => line.database === 'shop').length,
  );
  expect(text).toMatch(/database shop lacks a privilege on this table: run the install command/);
});
