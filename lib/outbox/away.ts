import type { Capabilities, OutboxInfo } from '@/lib/shared/model';
import { STATES } from '@/lib/shared/states';
import type { OutboxDirectory } from './directory';
import { tableText } from './language/names';
import { keepsOrder } from './shape';

/** What can be said of an outbox whose table has not been seen: its configuration, and nothing it could do. */
export function awayInfo(directory: OutboxDirectory, id: string, tableMissing: boolean): OutboxInfo {
  const settings = directory.settings(id);
  const database = directory.database(id);
  return {
    id,
    name: settings.name,
    database: database.id,
    engine: database.engine.key,
    shape: settings.inline ? 'inline' : settings.shape.key,
    table: tableText(settings.table),
    capabilities: {
      states: Object.fromEntries(STATES.map((state) => [state, { available: false, because: 'source_down' }])) as Capabilities['states'],
      operations: {},
      keepsOrder: keepsOrder(settings.shape),
      fields: {
        aggregate: false,
        createdAt: false,
        publishedAt: false,
        lastAttemptAt: false,
        attempts: false,
        error: false,
        dedupKey: false,
        traceId: false,
        headers: false,
        amount: false,
        availableAt: false,
        lockedUntil: false,
        lockedBy: false,
      },
    },
    writable: false,
    whyReadOnly: tableMissing ? 'table_missing' : 'source_down',
  };
}
