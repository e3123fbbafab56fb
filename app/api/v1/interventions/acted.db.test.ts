/** What an operator did is named beside the verdict from the next reading on: the store hints that there is something to ask the records. */
import { expect, it } from 'vitest';
import type { Summary } from '@/lib/shared/model';
import { GET as event } from '../outboxes/[outbox]/events/[event]/route';
import { POST as intervene } from '../outboxes/[outbox]/interventions/route';
import { GET as summary } from '../outboxes/[outbox]/summary/route';
import { DEAD, useInstalledEscrow } from '@/scripts/testing/installed-escrow';

const { console } = useInstalledEscrow();

it('the summary names who did what, for every role', async () => {
  const params = { outbox: 'escrow', event: DEAD };
  const facts = async (): Promise<unknown[]> =>
    ((await (await console.callAs('viewer', summary, { params })).json()) as Summary).diagnosis.evidence.filter(
      ({ code }) => code === 'operator_acted',
    );
  expect(await facts()).toEqual([]);
  const seen = (await (await console.callAs('operator', event, { params })).json()) as { event: { version: string } };
  const body = { operation: 'requeue', events: [{ id: DEAD, version: seen.event.version }], reason: 'the node is back' };
  const headers = { 'idempotency-key': 'k1' };
  const answer = await console.callAs('operator', intervene, { method: 'POST', params: { outbox: 'escrow' }, headers, body });
  expect(answer.status).toBe(200);
  // The hint is read with what was collected: the collector has to have begun.
  await expect.poll(facts, { timeout: 30_000 }).toMatchObject([{ values: { operation: 'requeue', count: 1 } }]);
});
