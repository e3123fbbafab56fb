/** Candidates looked at closely: what is proposed parses, binds, and reads the rows as a person would. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import type { Examination } from '@/lib/shared/detection';
import type { LiveState } from '@/lib/shared/states';
import { useTestDatabase } from '@/scripts/testing/database';
import { examineTable } from './detect';

const server = useTestDatabase(async (db) => {
  await db.query(`
    CREATE TABLE order_outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event_type text NOT NULL, payload jsonb NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(), published_at timestamptz, retries int NOT NULL DEFAULT 0, last_error text);
    INSERT INTO order_outbox (event_type, payload, published_at, retries) VALUES
      ('order.created', '{"email": "kim@example.com", "total": 12, "items": [{"sku": "a"}]}', now(), 0),
      ('order.created', '{"email": "lee@example.com", "total": 13}', NULL, 0), ('order.paid', '"kim@example.com"', NULL, 2);

    CREATE SCHEMA ko; CREATE TABLE ko."아웃박스" ("번호" bigint PRIMARY KEY, "이벤트유형" varchar(100), "내용" jsonb, "상태" varchar(20), "생성일시" timestamp, "시도횟수" int);
    INSERT INTO ko."아웃박스" VALUES (1, '주문', '{}', '발행됨', now(), 1), (2, '주문', '{}', '대기', now(), 0), (3, '주문', '{}', '실패', now(), 3), (4, '주문', '{}', '대기', now(), 1);

    CREATE TABLE moved_outbox (id bigint PRIMARY KEY, event_type text, payload jsonb, created_at timestamptz, sent_at timestamptz);
    CREATE TABLE moved_outbox_dead (id bigint PRIMARY KEY, event_type text, payload jsonb, created_at timestamptz, died_at timestamptz, last_error text);
    INSERT INTO moved_outbox VALUES (1, 'a', '{}', now(), NULL);
    INSERT INTO moved_outbox_dead VALUES (2, 'a', '{}', now(), now(), 'no route');

    CREATE TABLE code_outbox (id bigint PRIMARY KEY, topic text, body text, state smallint, created_at timestamptz, sent_at timestamptz);
    INSERT INTO code_outbox SELECT n, 't', 'kim@example.com', CASE WHEN n % 3 = 0 THEN 7 ELSE 2 END, now(), CASE WHEN n % 3 = 0 THEN now() END FROM generate_series(1, 9) n;

    CREATE TABLE large_outbox (id bigint PRIMARY KEY, event_type text, payload jsonb, status text, created_at timestamptz);
    INSERT INTO large_outbox SELECT n, 'a', '{}', CASE WHEN n = 10000 THEN 'DISCARDED' WHEN n > 19000 THEN 'NEW' ELSE 'SENT' END, now() FROM generate_series(1, 20000) n;

    CREATE TABLE empty_outbox (id bigint PRIMARY KEY, event_type text, payload jsonb, status text, created_at timestamptz);
    CREATE TABLE keyless_outbox (event_type text, payload jsonb, sent_at timestamptz, created_at timestamptz);
    CREATE TYPE outbox_stage AS ENUM ('NEW', 'IN_PROGRESS', 'DONE', 'ERROR');
    CREATE TABLE staged_outbox (id uuid PRIMARY KEY, event_type text, payload jsonb, status outbox_stage, created_at timestamptz);
    CREATE TABLE twice_outbox (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), event_type text, payload jsonb, status text, created_at timestamptz DEFAULT now());
    INSERT INTO twice_outbox (event_type, payload, status) VALUES ('a', '{}', 'PUBLISHED'), ('a', '{}', 'COMPLETED');
  `);
});

describe('a table made by hand', () => {
  let database: Database;
  beforeAll(() => {
    database = openDatabase({ id: 'shop', url: server.url });
  });
  afterAll(() => database.close());
  const look = (table: string, schema = 'public', confirmed: Record<string, LiveState | null> = {}): Promise<Examination> =>
    examineTable(database, { schema, table }, {}, { database: 'shop', taken: ['order-outbox'], rows: 5, confirmed });
  const states = ({ sample }: Examination): Record<string, string> =>
    Object.fromEntries((sample?.rows ?? []).map(({ event }) => [event.id, event.state]));
  const meanings = ({ status }: Examination): Record<string, [string | null, boolean]> =>
    Object.fromEntries((status?.words ?? []).map(({ word, state, sure }) => [word, [state, sure]]));

  it('is read by its time of publishing, its attempts tell what failed before', async () => {
    const examined = await look('order_outbox');
    expect(examined.problem).toBeNull();
    expect(states(examined)).toEqual({ 1: 'published', 2: 'pending', 3: 'retrying' });
    expect(examined.sample).toMatchObject({ looked: 3, unmapped: 0 });
    expect(examined.candidate.cautions).toEqual([]);
  });

  it('gets an id nobody else has', async () => {
    expect((await look('order_outbox')).yaml).toContain('- id: order-outbox-2\n');
  });

  it('shows the keys of a payload and none of its values', async () => {
    const payloads = (await look('order_outbox')).sample?.rows.map(({ payload }) => payload);
    expect(payloads).toEqual(['"••••"', '{"email":"••••","total":"••••"}', '{"email":"••••","items":["••••"],"total":"••••"}']);
    expect(JSON.stringify(await look('code_outbox'))).not.toContain('kim@');
  });

  it('asks what “failed” means in any language, and reads it as it was answered', async () => {
    const asked = await look('아웃박스', 'ko');
    expect(meanings(asked)).toEqual({ 발행됨: ['published', true], 대기: ['pending', true], 실패: [null, false] });
    expect(states(asked)).toEqual({ 1: 'published', 2: 'pending', 3: 'unmapped', 4: 'retrying' });
    expect(asked.yaml).toContain('# what does "실패" mean?');
    expect(asked.candidate.cautions.map(({ code }) => code)).toEqual(['words_to_confirm', 'time_zone']);
    const answered = await look('아웃박스', 'ko', { 실패: 'dead' });
    expect(states(answered)).toMatchObject({ 3: 'dead' });
    expect(answered.yaml).not.toContain('what does');
    expect(answered.candidate.cautions.map(({ code }) => code)).toEqual(['time_zone']);
  });

  it('takes a person’s word over its own', async () => {
    expect(states(await look('아웃박스', 'ko', { 대기: null, 실패: 'retrying' }))).toMatchObject({ 2: 'unmapped', 3: 'retrying' });
  });

  it('reads its dead letters in the table beside it', async () => {
    const examined = await look('moved_outbox');
    expect(examined.candidate.companions).toEqual([{ table: 'public.moved_outbox_dead', purpose: 'dead' }]);
    expect(states(examined)).toEqual({ 1: 'pending', 2: 'dead' });
  });

  it('never takes a number for sure, though the rows show what it means', async () => {
    const examined = await look('code_outbox');
    expect(meanings(examined)).toEqual({ 7: ['published', false], 2: [null, false] });
    expect(examined.yaml).toContain('equals: 7 } } # confirm');
    expect(examined.yaml).toContain('# what does "2" mean? { state: …, when: { column: "state", equals: 2 } }');
  });

  it('does not take “published” for done where something comes after it', async () => {
    expect(meanings(await look('twice_outbox'))).toEqual({ COMPLETED: ['published', true], PUBLISHED: [null, false] });
  });

  it('sees a rare word by an index, and says when it saw only a part', async () => {
    const sampled = await look('large_outbox');
    expect(sampled.status).toMatchObject({ complete: false });
    expect(Object.keys(meanings(sampled)).sort()).toEqual(['NEW', 'SENT']);
    await server.query('CREATE INDEX ON large_outbox (status)');
    const listed = await look('large_outbox');
    expect(listed.status).toMatchObject({ complete: true });
    expect(meanings(listed)).toEqual({ DISCARDED: ['dead', true], NEW: ['pending', true], SENT: ['published', true] });
  });

  it('knows the words of an enumeration without a row', async () => {
    expect(meanings(await look('staged_outbox'))).toEqual({
      NEW: ['pending', true],
      IN_PROGRESS: ['processing', true],
      DONE: ['published', true],
      ERROR: [null, false],
    });
  });

  it('says of which rows each number is, and none of them contradicts another', async () => {
    const rows = ({ candidate: { estimatedRows, counted } }: Examination): unknown => [estimatedRows, counted];
    // Nobody has analysed it, and its dead letters lie in another table.
    expect(rows(await look('order_outbox'))).toEqual([3, true]);
    const moved = await look('moved_outbox');
    expect([rows(moved), moved.sample]).toMatchObject([[1, true], { looked: 2, dead: 1, all: true }]);
    const large = async () => {
      const examined = await look('large_outbox');
      return [...(rows(examined) as unknown[]), examined.sample?.looked, examined.status?.looked];
    };
    await server.query('ANALYZE large_outbox');
    expect(await large()).toEqual([20_000, false, 200, 2_000]);
    await server.query("UPDATE pg_class SET reltuples = 7 WHERE relname = 'large_outbox'");
    expect(await large()).toEqual([null, false, 200, 2_000]);
    // More than the sample of the mapping, and less than the words were counted in.
    await server.query("UPDATE pg_class SET reltuples = 250 WHERE relname = 'large_outbox'");
    expect(await large()).toEqual([null, false, 200, 2_000]);
  });

  it('can be proposed while it is empty, and without a key', async () => {
    const empty = await look('empty_outbox');
    expect([empty.problem, empty.sample]).toEqual([null, { rows: [], looked: 0, dead: 0, all: true, unmapped: 0, stateless: false }]);
    expect(empty.candidate.cautions.map(({ code }) => code)).toContain('words_to_confirm');
    const keyless = await look('keyless_outbox');
    expect(keyless.candidate.cautions.map(({ code }) => code)).toContain('no_key');
  });

  it('is not found where it is no outbox', async () => {
    await expect(look('moved_outbox_dead')).rejects.toMatchObject({ code: 'not_found' });
    await expect(look('nothing')).rejects.toMatchObject({ code: 'not_found' });
  });
});
