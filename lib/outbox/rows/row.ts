import { sql, type RawBuilder } from 'kysely';
import type { VersionedEvent } from '@/lib/shared/model';
import { isState } from '@/lib/shared/states';
import { labelledState, or, rowFilter, stateExpression } from '@/lib/shape/compile';
import type { ValueRole } from '@/lib/shape/schema/source';
import { deadSinceRole, type Outbox } from '../outbox';
import type { Place } from '@/lib/shape/bound';
import { mayHoldJson, roleSize, roleSql, type RoleSql } from './role-sql';
import { rowId } from './row-id';
import { READ_BYTES } from './content';
import { pathSteps } from '@/lib/shared/lists/document-path';
import { touchedCount } from './touched';
import { encodeVersion } from './version';

/** Longest error text in a list's row, in characters; the event page reads the whole text with the content. */
export const LIST_ERROR_CHARACTERS = 500;
export const WHOLE_ERROR_CHARACTERS = 100_000;
/** Whether an error may have been cut when it was read. */
export const isCutError = (error: string): boolean =>
  error.length >= LIST_ERROR_CHARACTERS && [LIST_ERROR_CHARACTERS, WHOLE_ERROR_CHARACTERS].includes([...error].length);

/** NULL as a text, where a place has no such value. */
export const NO_TEXT = sql<null>`cast(null as char(1))`;

const TEXTS = ['type', 'topic', 'aggregateType', 'aggregateId', 'dedupKey', 'traceId'] as const;
const COUNTS = ['attempts', 'maxAttempts'] as const;
const OTHERS = ['createdAt', 'publishedAt', 'lastAttemptAt', 'error', 'amount', 'currency'] as const;

/** All values as text; the state with a colon and the library's own name for it, if any. `tooLarge`: a document is too large to be read. */
export type EventRow = Record<'id' | 'state' | 'exact' | 'stable', string> &
  Record<(typeof TEXTS | typeof COUNTS | typeof OTHERS)[number] | 'diedAt' | 'tooLarge' | 'touched', string | null>;

/** SQL expressions over one place of an outbox, under one alias. */
export type PlaceSql = ReturnType<typeof placeSql>;

export function placeSql(outbox: Outbox, place: Place, alias = 'o') {
  const { fragments } = outbox.database.engine;
  const { timeZone } = outbox.parameters;
  const role = (key: ValueRole): RoleSql | null => roleSql(outbox, place, key, alias);
  /** The role's value as a text; NULL if the place lacks it. */
  const told = (key: ValueRole, say: (bound: RoleSql) => RawBuilder<string | null>): RawBuilder<string | null> => {
    const bound = role(key);
    return bound === null ? NO_TEXT : say(bound);
  };
  /** Size in bytes of the column that holds the role's value, known without reading it; null if there is none. */
  const size = (key: ValueRole): RawBuilder<unknown> | null => roleSize(outbox, place, key, alias);
  const id = rowId(outbox.database.engine, place, alias);
  const [payload, created] = [role('payload'), role('createdAt')];
  return {
    place,
    alias,
    from: fragments.from(place.table, alias),
    column: (name: string): RawBuilder<unknown> => sql.id(alias, name),
    id,
    /** Whether the row is an event; null if every row of the place is. */
    rows: place.key === 'main' ? rowFilter(outbox.shape, alias, outbox.scope) : null,
    role,
    roleSize: size,
    roleText: (key: ValueRole) => told(key, (bound) => fragments.asText(bound.sql, bound.description)),
    /** The beginning of the role's text. */
    roleHead: (key: ValueRole, characters: number) => told(key, (bound) => fragments.head(bound.sql, bound.description, characters)),
    roleIso: (key: ValueRole) => told(key, (bound) => fragments.isoTime(bound.sql, bound.description, timeZone)),
    /** The role's value as an instant; null if the place lacks it. */
    roleInstant(key: ValueRole): RawBuilder<unknown> | null {
      const bound = role(key);
      return bound === null ? null : fragments.instant(bound.sql, bound.description, timeZone);
    },
    state: placeState(outbox, place, alias),
    exact: fragments.rowVersion(alias, place.description, timeZone),
    stable: fragments.stableDigest(
      [...id.columns.map((one) => one.sql), ...(created === null ? [] : [created.sql]), ...sizeIfInside(place, size('payload'))],
      payload?.sql ?? null,
      payload?.description,
    ),
  };
}

/** Rows whose payload is in a document too large to read differ at least by the document's size. */
function sizeIfInside({ roles: { payload } }: Place, size: RawBuilder<unknown> | null): RawBuilder<unknown>[] {
  const inside = payload !== undefined && (payload.path.length > 0 || payload.last);
  return !inside || size === null ? [] : [sql`(case when ${size} > ${sql.lit(READ_BYTES)} then ${size} end)`];
}

const placeState = (outbox: Outbox, place: Place, alias: string): RawBuilder<string> =>
  place.key === 'main' ? stateExpression(outbox.shape, alias, outbox.scope) : place.key === 'dead' ? sql`'dead'` : sql`'archived'`;

/** The columns that every event is selected with. */
export const eventColumns = (outbox: Outbox, at: PlaceSql): RawBuilder<unknown> =>
  sql`${uncountedColumns(outbox, at)}, ${touchedCount(outbox, at)} as touched`;

/** The same without the count. Values inside a document of more than 256 kB are NULL, and `too_large` is set. */
export function uncountedColumns(outbox: Outbox, at: PlaceSql): RawBuilder<unknown> {
  const sizes = takenApart(outbox, at.place).flatMap((role) => at.roleSize(role) ?? []);
  const large = sizes.map((size) => sql<boolean>`${size} > ${sql.lit(READ_BYTES)}`);
  const state = at.place.key === 'main' ? labelledState(outbox.shape, at.alias, outbox.scope) : at.state;
  const texts = [...TEXTS, ...COUNTS].map((key) => sql`${at.roleText(key)} as ${sql.id(key)}`);
  const diedAt = deadSinceRole(at.place);
  const times = { createdAt: 'createdAt', publishedAt: 'publishedAt', lastAttemptAt: 'attemptedAt', diedAt } as const;
  return sql`${at.id.text} as id, ${state} as state, ${sql.join(texts)},
    ${sql.join(Object.entries(times).map(([alias, role]) => sql`${at.roleIso(role)} as ${sql.id(alias)}`))},
    ${at.roleHead('error', LIST_ERROR_CHARACTERS)} as error, ${amountColumns(outbox, at, READ_BYTES)}, ${at.exact} as exact, ${at.stable} as stable,
    ${large.length === 0 ? NO_TEXT : sql`case when ${or(large)} then 'y' end`} as ${sql.id('tooLarge')}`;
}

/** `amount` and `currency`, by their column or their path into the payload, `loosely` or not; NULL where that has more than `maxBytes`. */
export function amountColumns({ database, settings, shape }: Outbox, at: PlaceSql, maxBytes: number, loosely = false): RawBuilder<unknown> {
  const { asText, jsonText } = database.engine.fragments;
  const payload = at.role('payload');
  const size = at.roleSize('payload');
  const value = (path = ''): RawBuilder<unknown> => {
    const column = at.place.description.columns.get(path);
    if (column !== undefined) return asText(at.column(path), column);
    if (path === '' || payload === null || size === null || !mayHoldJson(payload.description, shape)) return NO_TEXT;
    return sql`case when ${size} <= ${sql.lit(maxBytes)} then ${jsonText(payload.sql, pathSteps(path), payload.description, loosely)} end`;
  };
  return sql`${value(settings.amount?.value)} as amount, ${value(settings.amount?.currency)} as currency`;
}

/** Roles whose values are read from inside documents, one per document. */
function takenApart(outbox: Outbox, { roles }: Place): ValueRole[] {
  const documents = new Map<string, ValueRole>();
  for (const [key, bound] of Object.entries(roles)) {
    if (bound.constant === null && (bound.path.length > 0 || bound.last || (key === 'payload' && outbox.settings.amount !== null)))
      documents.set(`${bound.join?.name ?? ''}.${bound.column.name}`, key as ValueRole);
  }
  return [...documents.values()];
}

/** The event of a row; counts that are not safe integers become null. */
export function toEvent(outbox: Outbox, place: Place['key'], row: EventRow): VersionedEvent {
  const [name = '', ...label] = row.state.split(':');
  const state = isState(name) ? name : 'unmapped';
  return {
    ...(Object.fromEntries([...TEXTS, ...OTHERS].map((key) => [key, row[key]])) as Pick<EventRow, (typeof TEXTS | typeof OTHERS)[number]>),
    id: row.id,
    state,
    stateLabel: ownWord(name, label.join(':')),
    diedAt: state === 'dead' ? row.diedAt : null,
    attempts: countOf(row.attempts),
    maxAttempts: countOf(row.maxAttempts) ?? outbox.parameters.maxAttempts,
    tooLarge: row.tooLarge !== null,
    version: encodeVersion({ place, state, exact: row.exact, stable: row.stable, touched: countOf(row.touched) }),
  };
}

/** A label that only repeats the state is dropped. */
const ownWord = (state: string, label: string): string | null => (label === '' || label.toLowerCase() === state ? null : label);

function countOf(text: string | null): number | null {
  const count = text === null ? null : Number(text);
  return count !== null && Number.isSafeInteger(count) ? count : null;
}
