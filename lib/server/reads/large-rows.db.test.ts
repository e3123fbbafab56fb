/** A row of megabytes costs its own page what a small one costs, and nobody else anything. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINE_KEYS, type EventUpdate, type OutboxEvent } from '@/lib/shared/model';
import type { Role } from '@/lib/shared/permissions';
import { overCountingLine, type CountingLine } from '@/scripts/testing/counting-line';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestMysql } from '@/scripts/testing/mysql';
import type { AnyTestDatabase } from '@/scripts/testing/outbox';
import { contextOf, useTestConsole } from '@/scripts/testing/console';
import { readEventDetail, readEventUpdate } from './event';
import { readEvents } from './events';

const MB = 1_000_000;
/** Rows of each table: `huge` is beyond what is ever read, and `dense` the same of what does not compress. */
const IDS = ['small', 'large', 'huge', 'dense'] as const;
const SECRET = 'hunter2';

/** A document of so many bytes, of one character or of what no compression makes smaller. */
const DOCUMENTS = {
  postgres: (bytes: number, dense: boolean) =>
    `json_build_object('amount', '5', 'password', '${SECRET}', 'rest', ${dense ? `(SELECT string_agg(md5(random()::text), '') FROM generate_series(1, ${Math.ceil(bytes / 32)}))` : `repeat('x', ${bytes})`})`,
  mysql: (bytes: number, dense: boolean) =>
    `json_object('amount', '5', 'password', '${SECRET}', 'rest', ${dense ? `repeat(md5(rand()), ${Math.ceil(bytes / 32)})` : `repeat('x', ${bytes})`})`,
};

async function fill(db: AnyTestDatabase, type: string): Promise<void> {
  const { engine } = db;
  const huge = engine === 'postgres' ? 50 * MB : 8 * MB;
  const time = engine === 'postgres' ? 'timestamptz' : 'datetime(6)';
  const cast = engine === 'postgres' ? `::text::${type}` : '';
  await db.query(
    `CREATE TABLE events_${type} (id varchar(20) PRIMARY KEY, kind varchar(20), agg varchar(20), made ${time}, sent ${time}, error text, body ${type}) ${engine === 'postgres' ? 'WITH (autovacuum_enabled = false, toast.autovacuum_enabled = false)' : ''}`,
  );
  await db.query(`CREATE INDEX events_${type}_made ON events_${type} (made)`);
  for (const id of IDS) {
    const bytes = { small: 20, large: 2 * MB, huge, dense: huge }[id];
    await db.query(
      `INSERT INTO events_${type} SELECT '${id}', 't', 'a', now(), NULL, 'refused ${SECRET}', ${DOCUMENTS[engine](bytes, id !== 'huge')}${cast}`,
    );
  }
}

const TYPES = { postgres: ['jsonb', 'text'], mysql: ['longtext'] } as const;
const store = useTestDatabase();
const databases = {
  postgres: useTestDatabase(async (db) => {
    for (const type of TYPES.postgres) await fill(db, type);
  }),
  mysql: useTestMysql(async (db) => {
    for (const type of TYPES.mysql) await fill(db, type);
  }),
};
const lines: Partial<Record<keyof typeof databases, CountingLine>> = {};
beforeAll(async () => {
  lines.postgres = await overCountingLine(databases.postgres);
  lines.mysql = await overCountingLine(databases.mysql);
});
afterAll(async () => {
  await Promise.all(Object.values(lines).map((line) => line.close()));
});

const columns = '{id: id, type: kind, aggregateId: agg, createdAt: made, publishedAt: sent, error: error, payload: body}';
const states =
  '[{state: published, when: {column: sent, isNull: false}}, {state: dead, when: {column: error, isNull: false}}, {state: pending, when: {always: true}}]';
useTestConsole(
  () => store.url,
  () =>
    `databases: {postgres: {url: '${lines.postgres?.url}'}, mysql: {url: '${lines.mysql?.url}'}}\noutboxes:\n${ENGINE_KEYS.flatMap(
      (engine) =>
        TYPES[engine].map(
          (type) =>
            `  - {id: ${type}, name: ${type}, database: ${engine}, table: events_${type}, amount: {value: payload.amount}, shape: {columns: ${columns}, states: ${states}}}\n`,
        ),
    ).join('')}`,
);

describe.each([
  ['postgres', 'jsonb'],
  ['postgres', 'text'],
  ['mysql', 'longtext'],
] as const)('on %s, %s', (engine, outbox) => {
  const heard = (): string[] => lines[engine]?.heard() ?? [];
  const list = async (role: Role): Promise<Record<string, OutboxEvent>> =>
    Object.fromEntries((await readEvents(await contextOf(role), outbox, {}, { limit: 50 })).events.map((event) => [event.id, event]));
  const detail = async (role: Role, id: string, full = false) => readEventDetail(await contextOf(role), outbox, id, full);

  it('a list does without what lies in them, and says so', async () => {
    const seen = await list('operator');
    expect(Object.values(seen).map(({ id, amount, tooLarge }) => [id, amount, tooLarge])).toEqual(
      expect.arrayContaining([['small', '5', false], ...['large', 'huge', 'dense'].map((id) => [id, null, true])]),
    );
    const masked = await list('viewer');
    expect(IDS.map((id) => masked[id]?.error)).toEqual(['refused ••••', '••••', '••••', '••••']);
  });

  if (engine === 'postgres')
    it('a list reads next to nothing of what is stored beside its rows', async () => {
      const pages = async (): Promise<number> => {
        const [row] = await databases.postgres.query<{ pages: string }>(
          `SELECT pg_stat_force_next_flush(), coalesce(sum(toast_blks_hit + toast_blks_read + tidx_blks_hit + tidx_blks_read), 0) AS pages FROM pg_statio_user_tables`,
        );
        return Number(row?.pages);
      };
      await list('viewer');
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      const before = await pages();
      for (let n = 0; n < 5; n += 1) await Promise.all([list('viewer'), list('operator')]);
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      // The 50 MB of one row are 6,400 of them; ten lists read the beginnings of three texts each.
      expect((await pages()) - before).toBeLessThan(3_000);
    });

  it('content is read once for everybody, as far as it is not too large, and all of it for who asks', async () => {
    const unread = async (id: string, full = false) => (await detail('operator', id, full)).payload;
    expect((await unread('small')).text).toContain(SECRET);
    expect(await unread('large')).toMatchObject({ text: null, unread: 'on_request' });
    expect((await unread('large')).bytes).toBeGreaterThan(2 * MB);
    heard();
    const all = await Promise.all(Array.from({ length: 6 }, () => unread('large', true)));
    expect(heard().filter((text) => text.includes('payload_head') || text === 'execute').length).toBeLessThanOrEqual(
      engine === 'mysql' ? 9 : 1,
    );
    for (const { text, unread: why } of all) expect([text?.length, why]).toEqual([all[0]?.text?.length, null]);
    expect(all[0]?.text?.length).toBeGreaterThan(2 * MB);
    for (const id of ['huge', 'dense']) {
      expect.soft(await unread(id, true)).toMatchObject({ text: null, unread: 'too_large' });
      expect.soft((await unread(id, true)).bytes).toBeGreaterThan(4 * MB);
    }
    const masked = await detail('viewer', 'large', true);
    expect([masked.event.error, masked.payload.masked, masked.payload.text?.includes(SECRET)]).toEqual(['refused ••••', true, false]);
    expect((await detail('viewer', 'large')).event.error).toBe('••••');
  });

  it('six details of the largest at once leave the list and other pages as they are', async () => {
    const took = async (work: () => Promise<unknown>): Promise<number> => {
      const began = performance.now();
      await work();
      return performance.now() - began;
    };
    const six = Promise.all(Array.from({ length: 6 }, (_, n) => detail(n % 2 === 0 ? 'viewer' : 'operator', 'dense', true)));
    const others = await Promise.all([() => list('viewer'), () => list('operator'), () => detail('viewer', 'small')].map(took));
    expect(Math.max(...others)).toBeLessThan(1_000);
    await six;
  });

  it.each([1, 20])('a poll of an event that %i look at is three statements at the most', async (viewers) => {
    const poll = async (role: Role, since?: string): Promise<EventUpdate> =>
      readEventUpdate(await contextOf(role), outbox, 'small', { since });
    let told = await Promise.all(Array.from({ length: viewers }, (_, n) => poll(n % 2 === 0 ? 'viewer' : 'operator')));
    const costs: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      // What they were told has to be older than what is read now.
      const since = told
        .map(({ asOf }) => asOf)
        .sort()
        .at(-1);
      heard();
      told = await Promise.all(told.map((_, n) => poll(n % 2 === 0 ? 'viewer' : 'operator', since)));
      costs.push(heard().length);
      expect(told.every(({ asOf }) => asOf > (since ?? ''))).toBe(true);
    }
    // What the console reads by itself for its figures goes over the same line now and then.
    expect(Math.min(...costs)).toBeLessThanOrEqual(3);
  });

  it('content that a screen has is not sent again, and changed content is', async () => {
    const context = await contextOf('operator');
    const first = await readEventUpdate(context, outbox, 'small', {});
    expect(first.payload?.text).toContain(SECRET);
    expect(await readEventUpdate(context, outbox, 'small', { contentKey: first.contentKey })).not.toHaveProperty('payload');
    await databases[engine].query(`UPDATE events_${outbox} SET body = '{"amount": "6"}' WHERE id = 'small'`);
    const next = await readEventUpdate(context, outbox, 'small', { contentKey: first.contentKey });
    expect([next.payload?.text?.replaceAll(' ', ''), next.event.amount]).toEqual(['{"amount":"6"}', '6']);
  });
});
