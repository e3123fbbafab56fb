import { CONNECTION_ROLES } from '@/lib/shared/connections';
import type { FleetDatabase } from '@/lib/shared/figures/fleet';
import type { FamilyName } from './families';
import type { Sample } from './samples';

/** What is told about the databases: whether they answer, and the connections this console holds. */
export function databaseSamples(databases: readonly FleetDatabase[]): Sample[] {
  return databases.flatMap(({ id: database, state, connections }): Sample[] => {
    const up: Sample[] =
      state === 'unknown' ? [] : [{ family: 'outbox_console_database_up', labels: { database }, value: Number(state === 'up') }];
    const held = CONNECTION_ROLES.flatMap((role): Sample[] => {
      const counts = connections[role];
      if (counts === undefined) return [];
      const labels = { database, role };
      const sample = (family: FamilyName, value: number, more: Sample['labels'] = {}): Sample => ({
        family,
        labels: { ...labels, ...more },
        value,
      });
      return [
        sample('outbox_console_connections', counts.inUse, { use: 'active' }),
        sample('outbox_console_connections', counts.idle, { use: 'idle' }),
        sample('outbox_console_connections_limit', counts.limit),
        sample('outbox_console_connections_waiting', counts.waiting),
      ];
    });
    return [...up, ...held];
  });
}
