import { beforeEach, describe, expect, it } from 'vitest';
import { getConsole } from '@/lib/server/console';
import { useTestConsole, type Call } from '@/scripts/testing/console';
import type { Mark } from '@/lib/shared/figures/marks';
import type { Role } from '@/lib/shared/permissions';
import { deleteOldRows } from '@/lib/store/old-rows';
import { useTestDatabase } from '@/scripts/testing/database';
import { DELETE } from './[mark]/route';
import { GET, POST } from './route';

const database = useTestDatabase();
const { call, callAs } = useTestConsole(
  () => database.url,
  () =>
    `databases: {d: {url: '${database.url}'}}\noutboxes: [{id: a, database: d, table: a, shape: published-at}, {id: b, database: d, table: b, shape: published-at}]\n`,
);

const DAY_MS = 86_400_000;
const ago = (milliseconds: number): string => new Date(Date.now() - milliseconds).toISOString();
const post = (body: unknown, more: Call & { role?: Role } = {}): Promise<Response> =>
  callAs(more.role ?? 'operator', POST, { method: 'POST', body, ...more });
const added = async (body: unknown, more: Call = {}): Promise<Mark> => {
  const answer = await post(body, more);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Mark;
};
const listed = async (query = ''): Promise<Mark[]> => {
  const answer = await callAs('viewer', GET, { path: `/${query}` });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { marks: Mark[] }).marks;
};
const audited = (): Promise<{ operation: string; outcome: string; actor_name: string; outbox: string; reason: string }[]> =>
  database.query('select operation, outcome, actor_name, outbox, reason from audit_entry order by recorded_at, id');

beforeEach(() => database.query('delete from mark; delete from audit_entry'));

describe('a mark', () => {
  it('is put on by an operator, answered whole, listed and audited', async () => {
    const at = ago(60_000);
    const mark = await added({ at, kind: 'deploy', text: ' relay 2.4.1 ', outbox: 'a', url: 'https://ci.example.com/runs/7' });
    expect(mark).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: expect.any(String),
      kind: 'deploy',
      text: 'relay 2.4.1',
      outbox: 'a',
      url: 'https://ci.example.com/runs/7',
      actor: 'operator bot',
    });
    expect(Date.parse(mark.at)).toBe(Date.parse(at));
    expect(await listed()).toEqual([mark]);
    expect(await audited()).toEqual([
      { operation: 'mark', outcome: 'applied', actor_name: 'operator bot', outbox: 'a', reason: 'relay 2.4.1' },
    ]);
  });

  it('is of now and of all outboxes when it does not say otherwise', async () => {
    const mark = await added({ kind: 'note', text: 'broker maintenance' });
    expect(Math.abs(Date.parse(mark.at) - Date.now())).toBeLessThan(30_000);
    expect(mark).toMatchObject({ outbox: null, url: null });
  });

  it('may not be put on or taken off by a viewer or a stranger; the attempt is audited', async () => {
    const { id } = await added({ kind: 'note', text: 'mine' });
    expect((await post({ kind: 'note', text: 'not mine', outbox: 'a' }, { role: 'viewer' })).status).toBe(403);
    expect((await callAs('viewer', DELETE, { method: 'DELETE', params: { mark: id } })).status).toBe(403);
    expect((await call(POST, { method: 'POST', body: { kind: 'note', text: 'x' } })).status).toBe(401);
    expect((await call(DELETE, { method: 'DELETE', params: { mark: id } })).status).toBe(401);
    expect((await call(GET)).status).toBe(401);
    expect(await listed()).toHaveLength(1);
    expect(await audited()).toMatchObject([
      { outcome: 'applied' },
      { operation: 'mark', outcome: 'refused', actor_name: 'viewer bot', outbox: 'a', reason: 'not mine' },
      { operation: 'unmark', outcome: 'refused', actor_name: 'viewer bot' },
    ]);
  });

  it.each([
    [{ text: 'x' }, 'kind'],
    [{ kind: 'party', text: 'x' }, 'kind'],
    [{ kind: 'note' }, 'text'],
    [{ kind: 'note', text: '   ' }, 'text'],
    [{ kind: 'note', text: 'x'.repeat(201) }, 'text'],
    [{ kind: 'note', text: 'two\nlines' }, 'text'],
    [{ kind: 'note', text: 'a\u0000b' }, 'text'],
    [{ kind: 'note', text: 'half \ud83d' }, 'text'],
    [{ kind: 'note', text: 'x', outbox: 'nobody' }, 'outbox'],
    [{ kind: 'note', text: 'x', outbox: '' }, 'outbox'],
    [{ kind: 'note', text: 'x', at: 'yesterday' }, 'at'],
    [{ kind: 'note', text: 'x', at: '2026-11-21 14:00' }, 'at'],
    [{ kind: 'note', text: 'x', at: ago(401 * DAY_MS) }, 'at'],
    [{ kind: 'note', text: 'x', at: ago(-2 * DAY_MS) }, 'at'],
    [{ kind: 'note', text: 'x', url: 'javascript:alert(1)' }, 'url'],
    [{ kind: 'note', text: 'x', url: 'ftp://example.com/x' }, 'url'],
    [{ kind: 'note', text: 'x', url: 'https://' }, 'url'],
    [{ kind: 'note', text: 'x', url: 'https://user:secret@example.com/' }, 'url'],
    [{ kind: 'note', text: 'x', url: `https://example.com/${'x'.repeat(2_000)}` }, 'url'],
    [{ kind: 'note', text: 'x', colour: 'red' }, 'colour'],
  ])('is refused for what is wrong with it: case %#', async (body, field) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    const problem = (await answer.json()) as { code: string; fields: Record<string, string> };
    expect(problem.code).toBe('invalid');
    expect(Object.keys(problem.fields)).toEqual([field]);
    expect(await listed()).toEqual([]);
  });

  it('takes 200 characters of any script', async () => {
    const text = '🚀'.repeat(200);
    expect((await added({ kind: 'deploy', text })).text).toBe(text);
  });
});

describe('the same Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'deploy-77' };
  const body = { kind: 'deploy', text: 'v77' };

  it('answers the same mark again, also when it is sent ten times at once', async () => {
    const marks = await Promise.all(Array.from({ length: 10 }, () => added(body, { headers })));
    expect(new Set(marks.map((mark) => JSON.stringify(mark))).size).toBe(1);
    expect(await listed()).toHaveLength(1);
    expect(await audited()).toHaveLength(1);
  });

  it('does not bring back what was taken off', async () => {
    const mark = await added(body, { headers });
    await callAs('operator', DELETE, { method: 'DELETE', params: { mark: mark.id } });
    expect(await added(body, { headers })).toEqual(mark);
    expect(await listed()).toEqual([]);
  });

  it('with another body is refused, from somebody else it is another key', async () => {
    await added(body, { headers });
    const answer = await post({ ...body, text: 'v78' }, { headers });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([422, 'key_reused']);
    expect((await post(body, { headers, role: 'admin' })).status).toBe(200);
    expect(await listed()).toHaveLength(2);
  });

  it('must be printable; without one every request is a mark of its own', async () => {
    expect((await post(body, { headers: { 'idempotency-key': 'two words' } })).status).toBe(400);
    expect((await post(body, { headers: { 'idempotency-key': 'x'.repeat(201) } })).status).toBe(400);
    await added(body);
    await added(body);
    expect(await listed()).toHaveLength(2);
  });
});

describe('the list', () => {
  it('has the marks of an outbox and of all, newest first, between two times', async () => {
    const [a, b, all] = [
      await added({ kind: 'note', text: 'a', outbox: 'a', at: ago(3_000_000) }),
      await added({ kind: 'note', text: 'b', outbox: 'b', at: ago(2_000_000) }),
      await added({ kind: 'note', text: 'all', at: ago(1_000_000) }),
    ];
    expect(await listed()).toEqual([all, b, a]);
    expect(await listed('?outbox=a')).toEqual([all, a]);
    expect(await listed(`?from=${b.at}&to=${all.at}`)).toEqual([b]);
    expect(await listed('?outbox=&from=')).toHaveLength(3);
  });

  it('refuses what it does not understand', async () => {
    expect((await callAs('viewer', GET, { path: '/?outbox=nobody' })).status).toBe(404);
    for (const query of ['?from=monday', '?colour=red', '?outbox=a&outbox=b']) {
      expect((await callAs('viewer', GET, { path: `/${query}` })).status).toBe(400);
    }
  });

  it('says when it leaves older ones out', async () => {
    await database.query(
      `insert into mark (id, at, kind, text, actor_id, actor_name, request_hash)
        select gen_random_uuid(), now() - n * interval '1 min', 'note', n::text, 'x', 'x', '' from generate_series(1, 501) as n`,
    );
    const answer = (await (await callAs('viewer', GET)).json()) as { marks: Mark[]; complete: boolean };
    expect([answer.marks.length, answer.marks[0]?.text, answer.complete]).toEqual([500, '1', false]);
  });
});

describe('a mark that is not wanted any more', () => {
  it('is taken off by an operator, once, and audited', async () => {
    const mark = await added({ kind: 'incident', text: 'false alarm', outbox: 'b' });
    const remove = (): Promise<Response> => callAs('operator', DELETE, { method: 'DELETE', params: { mark: mark.id } });
    const answer = await remove();
    expect([answer.status, await answer.json()]).toEqual([200, mark]);
    expect(await listed()).toEqual([]);
    expect((await remove()).status).toBe(404);
    expect(await audited()).toMatchObject([
      { operation: 'mark' },
      { operation: 'unmark', outcome: 'applied', outbox: 'b', reason: 'false alarm' },
    ]);
  });

  it('must be named by an id', async () => {
    expect((await callAs('operator', DELETE, { method: 'DELETE', params: { mark: '1 or 1=1' } })).status).toBe(400);
  });

  it('is forgotten after 400 days', async () => {
    await database.query(
      `insert into mark (id, at, kind, text, actor_id, actor_name, request_hash)
        select gen_random_uuid(), now() - n * interval '1 day', 'note', n::text, 'x', 'x', '' from unnest(array[399, 401]) as n`,
    );
    await deleteOldRows((await getConsole()).store.db);
    expect((await listed()).map((mark) => mark.text)).toEqual(['399']);
  });
});
