/** Nobody has to ask after an intervention whose commit was never confirmed. */
import { expect, it, vi } from 'vitest';
import { getConsole } from '@/lib/server/console';
import type { AuditPage } from '@/lib/shared/model';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { GET as audit } from '../audit/route';
import { DEAD, useInstalledEscrow } from '@/scripts/testing/installed-escrow';

const { console } = useInstalledEscrow();

it('what became of an intervention is found out by the console itself, and stands in the audit', async () => {
  const { interventions } = await getConsole();
  await interventions.unsettled.add({
    id: '01900000-0000-7000-8000-000000000001',
    outbox: 'escrow',
    actor: { id: 'account:anna', name: 'anna@example.com', role: 'operator', kind: 'account' },
    key: 'k1',
    request: { operation: 'requeue', events: [{ id: DEAD, version: '1' }], reason: 'the connection broke' },
    at: new Date().toISOString(),
  });
  await vi.waitFor(
    async () => {
      const { entries } = (await (await console.callAs('viewer', audit, { path: `/?event=${DEAD}` })).json()) as AuditPage;
      expect(entries).toMatchObject([{ operation: 'requeue', outcome: 'none', code: 'not_applied', reason: 'the connection broke' }]);
    },
    { interval: 500, timeout: PATIENCE_MS },
  );
  expect(await interventions.unsettled.list(['escrow'])).toEqual([]);
});
