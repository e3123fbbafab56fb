import { sql, type RawBuilder } from 'kysely';
import { DatabaseFailure } from '@/lib/database/failure';
import type { Place } from '@/lib/shape/bound';
import { and } from '@/lib/shape/compile';
import { idSpellings, type KeyRole, type FindGap } from '@/lib/shared/lists/event-filter';
import type { OutboxEvent } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { OutboxDirectory } from '../directory';
import { allPlaces, type Outbox } from '../outbox';
import { eventColumns, placeSql, toEvent, type EventRow } from '../rows/row';
import { equality, KEY_ROLES } from './filters';
import { readByIndex } from './sql';

/** Events that are shown of one outbox. */
const FOUND_MAX = 5;
const TIMEOUT_MS = 1_000;

export interface FoundEvents {
  /** What needs somebody comes first. */
  events: { outbox: string; event: OutboxEvent }[];
  /** Outboxes that have more than are shown. */
  more: string[];
  gaps: FindGap[];
}

/** Where events come in the results: those that wait for somebody first. */
const ORDER: readonly string[] = ['dead', 'processing', 'retrying', 'pending', 'published', 'archived'];

/**
 * Events of all outboxes that have this id, dedup key or aggregate id, as given or without spaces around it. Only indexes are used, one
 * statement per outbox; where one is missing, `hidden` covers the role, or an outbox fails, that is said.
 */
export async function findEvents(
  directory: OutboxDirectory,
  text: string,
  hidden: (outbox: string) => ReadonlySet<string>,
): Promise<FoundEvents> {
  const found = await Promise.all(
    directory.ids.map(async (outbox): Promise<FoundEvents> => {
      try {
        return await findIn(await directory.get(outbox), text, hidden(outbox));
      } catch (error) {
        if (!(error instanceof DatabaseFailure || error instanceof Problem)) throw error;
        return { events: [], more: [], gaps: [{ outbox, role: null, why: 'unread' }] };
      }
    }),
  );
  return {
    events: found.flatMap((one) => one.events).toSorted((a, b) => ORDER.indexOf(a.event.state) - ORDER.indexOf(b.event.state)),
    more: found.flatMap(({ more }) => more),
    gaps: found.flatMap(({ gaps }) => gaps),
  };
}

async function findIn(outbox: Outbox, text: string, hidden: ReadonlySet<string>): Promise<FoundEvents> {
  const missing = new Map<KeyRole, FindGap['why']>();
  const arms: RawBuilder<unknown>[] = [];
  for (const place of allPlaces(outbox)) {
    const at = placeSql(outbox, place);
    for (const role of KEY_ROLES) {
      const tests = idSpellings(text).flatMap((spelling) => equality(outbox, at, role, spelling) ?? []);
      if (tests.length === 0) continue;
      if (hidden.has(role)) missing.set(role, 'hidden');
      else if (!tests.every(({ indexed }) => indexed)) missing.set(role, 'no_index');
      else arms.push(...tests.map(({ test }) => found(outbox, at, test)));
    }
  }
  const gaps = [...missing].map(([role, why]) => ({ outbox: outbox.id, role, why }));
  const rows = await readByIndex<EventRow & { place: Place['key'] }>(outbox, arms, TIMEOUT_MS);
  const events = [...new Map(rows.map((row) => [row.id, toEvent(outbox, row.place, row)])).values()];
  return {
    events: events.slice(0, FOUND_MAX).map((event) => ({ outbox: outbox.id, event })),
    more: events.length > FOUND_MAX ? [outbox.id] : [],
    gaps,
  };
}

const found = (outbox: Outbox, at: ReturnType<typeof placeSql>, test: RawBuilder<boolean>): RawBuilder<unknown> =>
  sql`(select ${sql.lit(at.place.key)} as place, ${eventColumns(outbox, at)} from ${at.from}
    where ${and([test, ...(at.rows === null ? [] : [at.rows])])} limit ${sql.lit(FOUND_MAX + 1)})`;
