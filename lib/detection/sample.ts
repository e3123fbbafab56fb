/** A proposal tried out: parsed like a configuration, bound to its table, and a few rows read through it. */
import type { Config } from '@/lib/config/config';
import { directoryOptions } from '@/lib/outbox/directory-options';
import { KNOWN, parseConfig } from '@/lib/config/load';
import type { Database } from '@/lib/database/database';
import { bindOutbox } from '@/lib/outbox/bind';
import { contentOf } from '@/lib/outbox/rows/event-content';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { maskErrors } from '@/lib/outbox/masking/hidden-in-errors';
import { listEvents } from '@/lib/outbox/lists/list-events';
import type { Outbox } from '@/lib/outbox/outbox';
import { COLUMN_ROLES } from '@/lib/shape/shape';
import type { MappedRole, Sample, SampleRow } from '@/lib/shared/detection';
import { MASK } from '@/lib/shared/lists/masked';
import type { OutboxEvent } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';

/** Rows whose states are counted. */
const LOOKED_ROWS = 200;
const PAYLOAD_CHARACTERS = 400;
/** Below this many levels a payload is not shown. */
const PAYLOAD_DEPTH = 2;

/** Reads the newest rows through the proposed lines. Throws Problem where the mapping does not fit, DatabaseFailure for the database's own. */
export async function readThrough(database: Database, yaml: string, rows: number): Promise<{ roles: MappedRole[]; sample: Sample }> {
  const outbox = await bindOutbox(settingsOf(configOf(database, yaml)), database);
  const stateless = outbox.shape.states.length === 0;
  const page = await listEvents(outbox, { order: 'newest' }, { limit: LOOKED_ROWS });
  const shown = await maskErrors(outbox, page.events.slice(0, rows));
  return {
    roles: rolesOf(outbox),
    sample: {
      rows: await Promise.all(shown.map((event) => rowOf(outbox, event))),
      looked: page.events.length,
      unmapped: stateless ? 0 : page.events.filter((event) => event.state === 'unmapped').length,
      stateless,
    },
  };
}

/** Parsed by the schema a person's file is parsed by, so that what is proposed can be pasted. */
export function configOf(database: Pick<Database, 'id' | 'engine'>, yaml: string): Config {
  const scheme = database.engine.key === 'mysql' ? 'mysql' : 'postgresql';
  const text = `databases:\n  ${database.id}:\n    url: ${scheme}://reader@localhost/database\n${yaml}`;
  const reading = parseConfig(text, 'proposal', KNOWN, () => undefined);
  if (!reading.ok) throw new Problem('invalid', reading.problems.join('; '));
  return reading.config;
}

function settingsOf(config: Config): ReturnType<typeof directoryOptions>['outboxes'][number] {
  const [settings] = directoryOptions(config).outboxes;
  if (settings === undefined) throw new Problem('invalid', 'No outbox is proposed');
  // Nobody has said yet what is private in here: all of it is.
  return { ...settings, mask: ['payload.**', 'headers.**'] };
}

function rolesOf({ main }: Outbox): MappedRole[] {
  const id = main.id.map(({ name, type }): MappedRole => ({ role: 'id', column: name, type }));
  const others = COLUMN_ROLES.flatMap((role): MappedRole[] => {
    const bound = role === 'id' ? undefined : main.roles[role];
    return role === 'id' || bound === undefined
      ? []
      : [{ role, column: [bound.column.name, ...bound.path].join(' → '), type: bound.path.length > 0 ? null : bound.column.type }];
  });
  return [...id, ...others];
}

async function rowOf(outbox: Outbox, event: OutboxEvent): Promise<SampleRow> {
  const stored = await getEvent(outbox, event.id);
  const payload = stored === null ? null : (await contentOf(outbox, stored, false)).payload;
  return { event, payload: payload === null || payload.binary ? null : skeleton(payload.head) };
}

/** A JSON payload with its keys and none of its values; null for anything else. */
export function skeleton(text: string | null): string | null {
  if (text === null) return null;
  try {
    return JSON.stringify(hidden(JSON.parse(text), 0)).slice(0, PAYLOAD_CHARACTERS);
  } catch {
    return null;
  }
}

function hidden(value: unknown, depth: number): unknown {
  if (value === null) return null;
  if (typeof value !== 'object' || depth >= PAYLOAD_DEPTH) return MASK;
  if (Array.isArray(value)) return value.slice(0, 3).map((one) => hidden(one, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hidden(one, depth + 1)]));
}
