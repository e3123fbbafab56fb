import 'server-only';
import { outboxInfo } from '../../outbox/outbox';
import { STATES } from '../../shared/states';
import type { Capabilities, OutboxInfo } from '../../shared/model';
import { Problem } from '../../shared/problems';
import type { Console } from '../console';

/** An outbox whose database has not answered yet: nothing is known of its table. */
function awayInfo(console: Console, id: string, tableMissing: boolean): OutboxInfo {
  const settings = console.directory.settings(id);
  const database = console.directory.database(id);
  return {
    id,
    name: settings.name,
    database: database.id,
    engine: database.engine.key,
    shape: settings.inline ? 'inline' : settings.shape.key,
    table: settings.table,
    capabilities: {
      states: Object.fromEntries(STATES.map((state) => [state, { available: false, because: 'source_down' }])) as Capabilities['states'],
      operations: {},
      keepsOrder: settings.shape.keepsOrder,
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
      },
    },
    writable: false,
    whyReadOnly: tableMissing ? 'table_missing' : 'source_down',
  };
}

/** One outbox, also when its database is away. Throws Problem `not_found`. */
export async function readOutbox(console: Console, id: string): Promise<OutboxInfo> {
  console.directory.settings(id);
  try {
    return outboxInfo(await console.directory.get(id));
  } catch (error) {
    const code = error instanceof Problem ? error.code : null;
    if (code === null) console.log.warn({ outbox: id, err: error }, 'the outbox could not be looked at');
    return awayInfo(console, id, code === 'not_found' || code === 'invalid');
  }
}

/** Every configured outbox, in the order of the configuration; one that is away is listed and says so. */
export function listOutboxes(console: Console): Promise<OutboxInfo[]> {
  return Promise.all(console.directory.ids.map((id) => readOutbox(console, id)));
}
