import { beforeAll, describe, expect, it, vi } from 'vitest';
import { readFleet } from '@/lib/server/reads/figures';
import type { ExaminedFleet } from '@/lib/shared/doctor';
import { contextOf, useTestConsole } from '@/scripts/testing/console';
import { useTestDatabase } from '@/scripts/testing/database';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { GET } from './route';

const database = useTestDatabase();
const MAPPING = '{columns: {id: id, createdAt: made_at}, states: [{state: pending, when: {always: true}}]}';
const { call, callAs } = useTestConsole(
  () => database.url,
  () =>
    `databases: {d: {url: '${database.url}'}}\noutboxes: [{id: there, database: d, table: fleet_rows, shape: ${MAPPING}}, {id: gone, database: d, table: fleet_none, shape: published-at}]\n`,
);

const asked = async (): Promise<ExaminedFleet> => {
  const answer = await callAs('viewer', GET);
  expect(answer.status).toBe(200);
  return (await answer.json()) as ExaminedFleet;
};

describe('the fleet over HTTP', () => {
  beforeAll(() => database.query('CREATE TABLE fleet_rows (id bigint PRIMARY KEY, made_at timestamptz NOT NULL)'));

  it('is what the screen shows: every outbox with its figures and verdict, the worst first', async () => {
    await database.query('INSERT INTO fleet_rows SELECT n, now() FROM generate_series(1, 3) n');
    const fleet = await vi.waitFor(
      async () => {
        const told = await asked();
        expect(told.entries.map(({ unread }) => unread)).toEqual([false, false]);
        return told;
      },
      { timeout: PATIENCE_MS, interval: 200 },
    );
    expect(fleet.entries.map(({ outbox }) => outbox.id)).toEqual(['gone', 'there']);
    expect(fleet.entries[0]?.summary).toMatchObject({
      diagnosis: { verdict: 'cannot_see' },
      depth: { waiting: { count: null, why: 'table_missing' } },
    });
    expect(fleet.entries[1]?.summary.depth.waiting).toEqual({ count: 3, known: 'exact' });
    expect(Date.parse(fleet.asOf)).toBeGreaterThan(0);
    expect(fleet.databases).toMatchObject([{ id: 'd', state: 'up', outboxes: 2 }]);
    const shown = JSON.parse(JSON.stringify(await readFleet(await contextOf('viewer')))) as ExaminedFleet;
    expect(Object.keys(fleet).sort()).toEqual(Object.keys(shown).sort());
    expect(fleet.entries.map((entry) => Object.keys(entry))).toEqual(shown.entries.map((entry) => Object.keys(entry)));
  });

  it('is told to nobody without a sign-in', async () => {
    expect((await call(GET)).status).toBe(401);
  });
});
