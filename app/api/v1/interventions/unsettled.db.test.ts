/** Nobody has to ask after an intervention whose commit was never confirmed. */
import { beforeAll, expect, it, vi } from 'vitest';
import { openDatabase } from '@/lib/database/database';
import { applyInstall, bindForInstall } from '@/lib/interventions/install';
import { escrowStatus } from '@/lib/outbox/shapes/escrow-status';
import { getConsole } from '@/lib/server/console';
import { useTestConsole } from '@/lib/server/testing';
import type { AuditPage } from '@/lib/shared/model';
import { useTestDatabase } from '@/scripts/testing/database';
import { createRoles, createSample, settingsFor } from '@/scripts/testing/outbox';
import { GET as audit } from '../audit/route';

const DEAD = '00000000-0000-4000-8000-000000000005';
const store = useTestDatabase();
const observed = useTestDatabase((db) => createSample(db, escrowStatus));
const roles = { reader: '', operator: '' };
beforeAll(async () => {
  Object.assign(roles, await createRoles(observed));
  const database = openDatabase({ id: 'shop', url: roles.reader, operatorUrl: roles.operator });
  const settings = settingsFor(escrowStatus, { id: 'escrow' });
  await applyInstall(await bindForInstall(settings, database, observed.url), observed.url).finally(() => database.close());
});
const console = useTestConsole(
  () => store.url,
  () => `databases:
  shop: { url: "${roles.reader}", operatorUrl: "${roles.operator}" }
outboxes:
  - { id: escrow, database: shop, table: ${escrowStatus.table}, shape: escrow-status }
`,
);

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
    { timeout: 25_000, interval: 500 },
  );
  expect(await interventions.unsettled.list()).toEqual([]);
});
