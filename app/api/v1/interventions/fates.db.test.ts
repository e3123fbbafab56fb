/** What became of events sent again, asked over HTTP; what an error quotes stays hidden from who may not see it. */
import { expect, it } from 'vitest';
import type { Role } from '@/lib/shared/permissions';
import { DEAD, useInstalledEscrow } from '@/scripts/testing/installed-escrow';
import { GET as event } from '../outboxes/[outbox]/events/[event]/route';
import { POST as intervene } from '../outboxes/[outbox]/interventions/route';
import { GET as fates } from './[intervention]/fates/route';

const { console, observed } = useInstalledEscrow();

it('the fates of an intervention’s events are told, and errors as the reader may see them', async () => {
  await observed.query(`UPDATE p2p.transaction_outbox SET payload = '{"user": {"password": "swordfish-1"}}' WHERE id = $1`, [DEAD]);
  const params = { outbox: 'escrow', event: DEAD };
  const seen = (await (await console.callAs('operator', event, { params })).json()) as { event: { version: string } };
  const body = { operation: 'requeue', events: [{ id: DEAD, version: seen.event.version }], reason: 'the node is back' };
  const sent = await console.callAs('operator', intervene, {
    method: 'POST',
    params: { outbox: 'escrow' },
    headers: { 'idempotency-key': 'k1' },
    body,
  });
  const { interventionId: intervention } = (await sent.json()) as { interventionId: string };
  const ask = (role: Role, id = intervention) => console.callAs(role, fates, { params: { intervention: id }, path: '/f?outbox=escrow' });
  expect(await (await ask('viewer')).json()).toMatchObject({ fates: { waiting: 1 }, events: [{ id: DEAD, fate: 'waiting' }], error: null });
  await observed.query(
    `UPDATE p2p.transaction_outbox SET status = 'failed', retry_count = 5, error_message = 'login failed for swordfish-1' WHERE id = $1`,
    [DEAD],
  );
  const told = { fates: { failedAgain: 1 }, sameError: 0, goneIsOut: false };
  expect(await (await ask('operator')).json()).toMatchObject({ ...told, error: 'login failed for swordfish-1' });
  const masked = await (await ask('viewer')).json();
  expect(masked).toMatchObject({ ...told, error: 'login failed for ••••' });
  expect(Object.keys(masked as object).sort()).toEqual(['asOf', 'error', 'events', 'fates', 'goneIsOut', 'sameError']);
  expect((await ask('viewer', '00000000-0000-7000-8000-000000000000')).status).toBe(404);
});
