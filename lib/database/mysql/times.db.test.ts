/** Times of zones whose clocks are changed, on a server that nobody has told of any zone. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { openDatabase, type Database } from '../database';
import type { ColumnDescription } from '../description';
import { mysqlFragments } from './fragments';

const database = useTestDatabaseOf('mysql');
let opened: Database;
beforeAll(() => {
  opened = openDatabase({ id: 'x', url: database.url });
});
afterAll(() => opened.close());

const CLOCK: ColumnDescription = { name: 'at', type: 'datetime(6)', kind: 'wall_clock', nullable: true, generated: false };
const ZONES = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Casablanca', 'America/Sao_Paulo', 'Asia/Seoul'];
const HOUR_MS = 3_600_000;

/** What a clock in the zone shows. */
function shown(at: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(at);
  return `${parts}.${new Date(at).toISOString().slice(20, 23)}000`;
}

const read = async (work: (value: ReturnType<typeof sql>) => unknown, text: string | null): Promise<unknown> =>
  opened.read(
    async (db) =>
      (await sql<{ at: unknown }>`select cast(${work(sql`cast(${text} as datetime(6))`)} as char) as at`.execute(db)).rows[0]?.at,
  );

it.each(ZONES)('%s: what its clock shows, and when that was', async (timeZone) => {
  const from = Date.UTC(2025, 11, 31, 23, 30, 0, 500);
  // Every 61 hours: all hours of the day, all seasons, and no list of changes that could be wrong here too.
  for (let at = from; at < from + 370 * 24 * HOUR_MS; at += 61 * HOUR_MS) {
    const [utc, local] = [new Date(at).toISOString().slice(0, 23).replace('T', ' ') + '000', shown(at, timeZone)];
    expect.soft(await read((value) => mysqlFragments.fromInstant(value, CLOCK, timeZone), utc), utc).toBe(local);
    expect.soft(await read((value) => mysqlFragments.instant(value, CLOCK, timeZone), local), local).toBe(utc);
  }
});

it('an hour shown twice is the later one, one left out counts on, and no time is none', async () => {
  const inNewYork = (text: string | null): Promise<unknown> =>
    read((value) => mysqlFragments.instant(value, CLOCK, 'America/New_York'), text);
  expect(await inNewYork('2026-03-08 01:59:59.999999')).toBe('2026-03-08 06:59:59.999999');
  expect(await inNewYork('2026-03-08 02:30:00')).toBe('2026-03-08 07:30:00.000000');
  expect(await inNewYork('2026-03-08 03:00:00')).toBe('2026-03-08 07:00:00.000000');
  expect(await inNewYork('2026-11-01 00:59:59')).toBe('2026-11-01 04:59:59.000000');
  expect(await inNewYork('2026-11-01 01:30:00')).toBe('2026-11-01 06:30:00.000000');
  expect(await inNewYork(null)).toBeNull();
});
