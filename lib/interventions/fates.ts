import { sql } from 'kysely';
import type { Outbox } from '@/lib/outbox/outbox';
import { LIST_ERROR_CHARACTERS } from '@/lib/outbox/rows/row';
import { traitsOf } from '@/lib/outbox/scan/traits';
import { plainColumn } from '@/lib/shape/bound';
import { FATES, type Fate, type Fates } from '@/lib/shared/changes/fates';
import { causeText, errorTemplate } from '@/lib/shared/lists/cause';
import { Problem } from '@/lib/shared/problems';
import { rowsById, type ById } from './classify';
import { eventsOf, headerOf, type RecordEvent } from './records';

type FateRow = ById & { state: string } & Record<'error' | 'attempts', string | null>;

/** What became of the events that this intervention changed; `failed`: the event whose error is told. Throws Problem `not_found`. */
export async function fatesOf(outbox: Outbox, interventionId: string): Promise<Fates & { failed: string | null }> {
  const { engine } = outbox.database;
  const notFound = new Problem('not_found', 'This outbox has no record of this intervention');
  if (outbox.archive === null) throw notFound;
  return outbox.database.read(async (db) => {
    const asOf = new Date().toISOString();
    // The record first: where a replica has it, it has the change too.
    const header = await headerOf(engine, db, { id: interventionId });
    if (header?.outbox !== outbox.id) throw notFound;
    const lines = ((await eventsOf(engine, db, [header.id])).get(header.id) ?? []).filter(({ code }) => code === null);
    const find = (ids: string[]) =>
      rowsById<FateRow>(outbox, db, ids, (at) => {
        const error = at.roleHead('error', LIST_ERROR_CHARACTERS);
        return sql`${at.id.text} as id, ${at.state} as state, ${error} as error, ${at.roleText('attempts')} as attempts`;
      });
    const found = await find(lines.map((line) => line.event_id));
    // One that moved between the tables meanwhile is missed once.
    for (const [id, row] of await find(lines.flatMap(({ event_id: id }) => (found.has(id) ? [] : id)))) found.set(id, row);
    const told = lines.map((line) => ({ line, row: found.get(line.event_id), fate: fateOf(outbox, line, found.get(line.event_id)) }));
    const failed = told.filter(({ fate }) => fate === 'failedAgain' || fate === 'retrying');
    const same = failed.flatMap(({ line, row }) => isSameError(outbox, line, row?.error ?? null) ?? []);
    const example = failed.find(({ row }) => row?.error != null);
    return {
      asOf,
      fates: Object.fromEntries(FATES.map((fate) => [fate, told.filter((one) => one.fate === fate).length])) as Fates['fates'],
      goneIsOut: !traitsOf(outbox).publishedState,
      sameError: same.length < failed.length ? null : same.filter(Boolean).length,
      error: example?.row?.error ?? null,
      failed: example?.line.event_id ?? null,
      events: told.map(({ line, fate }) => ({ id: line.event_id, fate })),
    };
  });
}

/** States that tell it by themselves. */
const BY_STATE: Record<string, Fate> = { published: 'published', dead: 'failedAgain', processing: 'waiting' };

function fateOf(outbox: Outbox, { after }: RecordEvent, row: FateRow | undefined): Fate {
  if (row === undefined) return 'gone';
  if (row.state !== 'pending' && row.state !== 'retrying') return BY_STATE[row.state] ?? 'notKnown';
  const [error, attempts] = (['error', 'attempts'] as const).map((role) => recordedValue(outbox, role, after));
  // What the operation left in the row is no failure since.
  const another = row.error !== null && error !== undefined && causeText(row.error) !== causeText(error ?? '');
  const counted = row.state === 'retrying' && attempts !== undefined && Number(row.attempts ?? 0) > Number(attempts ?? 0);
  return another || counted ? 'retrying' : 'waiting';
}

/** The value of a role in a record's image of the row; undefined if it does not stand in a column as it is. */
export function recordedValue({ main, dead }: Outbox, role: 'error' | 'attempts', image: RecordEvent['before']): string | null | undefined {
  const names = [dead, main].flatMap((place) => (place === null ? [] : (plainColumn(place, role)?.name ?? [])));
  return names.map((name) => image?.[name]).find((value) => value !== undefined);
}

/** null if one of the two errors is not known. */
function isSameError(outbox: Outbox, { before }: RecordEvent, error: string | null): boolean | null {
  const earlier = recordedValue(outbox, 'error', before);
  return earlier == null || error === null ? null : errorTemplate(earlier) === errorTemplate(error);
}
