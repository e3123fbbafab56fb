import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import type { Outbox } from '@/lib/outbox/outbox';
import { LIST_ERROR_CHARACTERS } from '@/lib/outbox/rows/row';
import { traitsOf } from '@/lib/outbox/scan/traits';
import { plainColumn } from '@/lib/shape/bound';
import { FATES, type Fate, type Fates } from '@/lib/shared/changes/fates';
import { causeText, errorTemplate } from '@/lib/shared/lists/cause';
import { Problem } from '@/lib/shared/problems';
import { rowsById, type ById } from './classify';
import { eventsOf, headerOf, type RecordLine } from './records';

type FateRow = ById & { state: string } & Record<'error' | 'attempts', string | null>;

/** What a record says of an event that was changed: what it left in the row, and the error before; undefined if no column shows it. */
export interface Sent {
  id: string;
  after: Record<'error' | 'attempts', string | null | undefined>;
  errorBefore: string | null | undefined;
}

/** The events that these interventions changed; of an intervention without a record none. Served by the primary key of the lines. */
export async function sentEvents(outbox: Outbox, db: Db, interventions: string[]): Promise<Map<string, Sent[]>> {
  const lines = await eventsOf(outbox.database.engine, db, interventions);
  return new Map([...lines].map(([id, own]) => [id, own.flatMap((line) => (line.code === null ? sentOf(outbox, line) : []))]));
}

const sentOf = (outbox: Outbox, { event_id: id, before, after }: RecordLine): Sent => ({
  id,
  after: { error: recordedValue(outbox, 'error', after), attempts: recordedValue(outbox, 'attempts', after) },
  errorBefore: recordedValue(outbox, 'error', before),
});

/** Events by one statement. */
const LOOKED_AT_ONCE = 500;

/** What became of them since, in their order; `same`: for the error of before, null if not known. By primary key; locks nothing. */
export async function findFates(outbox: Outbox, db: Db, sent: readonly Sent[]) {
  const find = async (ids: string[]): Promise<Map<string, FateRow>> => {
    const found = new Map<string, FateRow>();
    for (let at = 0; at < ids.length; at += LOOKED_AT_ONCE) {
      const part = await rowsById<FateRow>(outbox, db, ids.slice(at, at + LOOKED_AT_ONCE), (place) => {
        const error = place.roleHead('error', LIST_ERROR_CHARACTERS);
        return sql`${place.id.text} as id, ${place.state} as state, ${error} as error, ${place.roleText('attempts')} as attempts`;
      });
      for (const [id, row] of part) found.set(id, row);
    }
    return found;
  };
  const found = await find(sent.map(({ id }) => id));
  // One that moved between the tables meanwhile is missed once.
  for (const [id, row] of await find(sent.flatMap(({ id }) => (found.has(id) ? [] : id)))) found.set(id, row);
  return sent.map((one) => {
    const row = found.get(one.id);
    const fate = fateOf(one, row);
    const hasFailed = fate === 'failedAgain' || fate === 'retrying';
    return { fate, error: hasFailed ? (row?.error ?? null) : null, same: hasFailed ? isSameError(one, row?.error ?? null) : null };
  });
}

/** The relay deletes what it has sent: then what is gone is out. */
export const goneIsOut = (outbox: Outbox): boolean => !traitsOf(outbox).publishedState;

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
    const sent = (await sentEvents(outbox, db, [header.id])).get(header.id) ?? [];
    const told = (await findFates(outbox, db, sent)).map((found, at) => ({ ...found, id: sent[at]?.id ?? '' }));
    const failed = told.filter(({ fate }) => fate === 'failedAgain' || fate === 'retrying');
    const same = failed.flatMap((one) => one.same ?? []);
    const example = failed.find(({ error }) => error !== null);
    return {
      asOf,
      fates: Object.fromEntries(FATES.map((fate) => [fate, told.filter((one) => one.fate === fate).length])) as Fates['fates'],
      goneIsOut: goneIsOut(outbox),
      sameError: same.length < failed.length ? null : same.filter(Boolean).length,
      error: example?.error ?? null,
      failed: example?.id ?? null,
      events: told.map(({ id, fate }) => ({ id, fate })),
    };
  });
}

/** States that tell it by themselves. */
const BY_STATE: Record<string, Fate> = { published: 'published', dead: 'failedAgain', processing: 'waiting' };

function fateOf({ after: { error, attempts } }: Sent, row: FateRow | undefined): Fate {
  if (row === undefined) return 'gone';
  if (row.state !== 'pending' && row.state !== 'retrying') return BY_STATE[row.state] ?? 'notKnown';
  // What the operation left in the row is no failure since.
  const another = row.error !== null && error !== undefined && causeText(row.error) !== causeText(error ?? '');
  const counted = row.state === 'retrying' && attempts !== undefined && Number(row.attempts ?? 0) > Number(attempts ?? 0);
  return another || counted ? 'retrying' : 'waiting';
}

/** The value of a role in a record's image of the row; undefined if it does not stand in a column as it is. */
export function recordedValue({ main, dead }: Outbox, role: 'error' | 'attempts', image: RecordLine['before']): string | null | undefined {
  const names = [dead, main].flatMap((place) => (place === null ? [] : (plainColumn(place, role)?.name ?? [])));
  return names.map((name) => image?.[name]).find((value) => value !== undefined);
}

/** null if one of the two errors is not known. */
const isSameError = ({ errorBefore: earlier }: Sent, error: string | null): boolean | null =>
  earlier == null || error === null ? null : errorTemplate(earlier) === errorTemplate(error);
