/** A console on an installed escrow outbox, for tests of what becomes of its interventions. */
import { beforeAll } from 'vitest';
import { openDatabase } from '@/lib/database/database';
import { applyInstall, bindForInstall } from '@/lib/interventions/install/install';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { useTestConsole, type TestConsole } from './console';
import { useTestDatabase, type TestDatabase } from './database';
import { createRoles, createSample, settingsFor } from './outbox';

/** The sample's dead event. */
export const DEAD = '00000000-0000-4000-8000-000000000005';

/** Call it once at the top of the file. `rest`: more of the configuration. */
export function useInstalledEscrow(rest = ''): { console: TestConsole; observed: TestDatabase; store: TestDatabase } {
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
${rest}`,
  );
  return { console, observed, store };
}
