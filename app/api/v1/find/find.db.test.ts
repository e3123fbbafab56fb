/** A business key over HTTP: what is answered, to whom, and what is refused. */
import { expect, it, vi } from 'vitest';
import type { Role } from '@/lib/shared/permissions';
import type { Found } from '@/lib/shared/lists/found';
import { contextOf } from '@/scripts/testing/console';
import { DEAD, useInstalledEscrow } from '@/scripts/testing/installed-escrow';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { readFound } from '@/lib/server/reads/find';
import { GET as eventRoute } from '../outboxes/[outbox]/events/[event]/route';
import { POST as intervene } from '../outboxes/[outbox]/interventions/route';
import { GET } from './route';

const { console, observed } = useInstalledEscrow();

const asked = (role: Role, query: string) => console.callAs(role, GET, { path: `/api/v1/find${query}` });
/** A key's answer is shared for a few seconds. */
const found = async (role: Role, key: string, as: (found: Found) => void): Promise<void> =>
  vi.waitFor(async () => as((await (await asked(role, `?${new URLSearchParams({ key }).toString()}`)).json()) as Found), {
    timeout: PATIENCE_MS,
    interval: 500,
  });

it('the answer is what the contract says, errors as the role may see them, versions for who may operate', async () => {
  await observed.query(
    `UPDATE p2p.transaction_outbox SET payload = '{"user": {"password": "swordfish-1"}}', error_message = 'login failed for swordfish-1' WHERE id = $1`,
    [DEAD],
  );
  await found('viewer', DEAD, (seen) => {
    expect(Object.keys(seen)).toEqual(['asOf', 'key', 'fate', 'outboxes']);
    expect(seen).toMatchObject({ key: DEAD, fate: 'dead' });
    expect(seen.outboxes.map((part) => Object.keys(part).sort())).toEqual([['events', 'more', 'outbox', 'searched', 'why']]);
    expect(seen.outboxes[0]?.events).toMatchObject([
      { id: DEAD, state: 'dead', fate: 'dead', error: 'login failed for ••••', version: null },
    ]);
  });
  await found('operator', DEAD, ({ outboxes }) =>
    expect(outboxes[0]?.events).toMatchObject([{ error: 'login failed for swordfish-1', version: expect.any(String) as string }]),
  );
});

it('an event that was archived is found in the archive', async () => {
  const params = { outbox: 'escrow', event: DEAD };
  const { event } = (await (await console.callAs('operator', eventRoute, { params })).json()) as { event: { version: string } };
  const body = { operation: 'archive', events: [{ id: DEAD, version: event.version }], reason: 'not to be sent' };
  const call = { method: 'POST', params: { outbox: 'escrow' }, headers: { 'idempotency-key': 'k1' }, body };
  expect(await (await console.callAs('operator', intervene, call)).json()).toMatchObject({ outcome: 'applied' });
  await found('viewer', DEAD, (seen) =>
    expect(seen).toMatchObject({ fate: 'archived', outboxes: [{ events: [{ id: DEAD, fate: 'archived' }] }] }),
  );
});

it('a key is one text of 1 to 300 characters, and nothing else is asked', async () => {
  const refused = async (query: string, field: string): Promise<void> => {
    const answer = await asked('viewer', query);
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ code: 'invalid' })]);
    expect(Object.keys(((await (await asked('viewer', query)).json()) as { fields: object }).fields)).toEqual([field]);
  };
  await refused('', 'key');
  await refused('?key=', 'key');
  await refused('?key=%20%20', 'key');
  await refused(`?key=${'x'.repeat(301)}`, 'key');
  await refused('?key=a%00b', 'key');
  await refused('?key=a&key=b', 'key');
  await refused('?key=a&limit=5', 'limit');
  expect((await asked('viewer', `?key=${encodeURIComponent('😀'.repeat(300))}`)).status).toBe(200);
  expect((await console.call(GET, { path: '/api/v1/find?key=a' })).status).toBe(401);
});

it('some outboxes are asked alone; one that there is not is not found', async () => {
  expect((await readFound(await contextOf('viewer'), 'a', [])).outboxes).toEqual([]);
  expect((await readFound(await contextOf('viewer'), 'a', ['escrow'])).outboxes.map(({ outbox }) => outbox)).toEqual(['escrow']);
  await expect(readFound(await contextOf('viewer'), 'a', ['nowhere'])).rejects.toMatchObject({ code: 'not_found' });
});

it('above twenty new keys a second the answer is 429', async () => {
  const answers = await Promise.all(Array.from({ length: 25 }, (_, index) => asked('viewer', `?key=many-${index}`)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThanOrEqual(5);
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
  expect(await refused[0]?.json()).toMatchObject({ code: 'too_many' });
});
