import { describeFilterErrors, FILTER_FIELDS, parseEventFilter } from '@/lib/shared/lists/event-filter';
import type { EventFilter } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { cursorSchema, limitSchema } from '../schemas';

const PAGING = ['cursor', 'limit'] as const;
const LISTS: ReadonlySet<string> = new Set(['state', 'type']);

/**
 * The query of an events list, as route and screen write it. Throws Problem `invalid` naming every parameter that is
 * unknown, repeated or wrong: a filter that is quietly dropped would show the wrong events.
 */
export function readEventsQuery(params: URLSearchParams): { filter: EventFilter; cursor: string | undefined; limit: number } {
  const { filter, errors } = parseEventFilter(params);
  const fields: Record<string, string> = describeFilterErrors(errors);
  const known: readonly string[] = [...FILTER_FIELDS, ...PAGING];
  for (const name of new Set(params.keys())) {
    if (!known.includes(name)) fields[name] = `unknown; known: ${known.join(', ')}`;
    else if (!LISTS.has(name) && params.getAll(name).length > 1) fields[name] ??= 'write it once';
  }
  const cursor = cursorSchema.safeParse(params.get('cursor') ?? undefined);
  if (!cursor.success) fields.cursor ??= 'not a cursor of this list';
  const limit = limitSchema.safeParse(params.get('limit') ?? undefined);
  if (!limit.success) fields.limit ??= limit.error.issues[0]?.message ?? 'not a limit';
  if (Object.keys(fields).length > 0 || !cursor.success || !limit.success) {
    throw new Problem(
      'invalid',
      `The list cannot be read: ${Object.entries(fields)
        .map(([name, text]) => `${name}: ${text}`)
        .join('; ')}`.slice(0, 500),
      { fields },
    );
  }
  return { filter, cursor: cursor.data, limit: limit.data };
}
