import { sql, type RawBuilder } from 'kysely';
import type { ColumnDescription } from '@/lib/database/engine';
import type { OutboxEvent } from '@/lib/shared/model';
import { isState } from '@/lib/shared/states';
import { ARCHIVE_COLUMNS } from './companions';
import { labelledState, rowFilter, stateExpression } from './conditions';
import type { ColumnRole } from './language/source';
import type { Outbox, Place } from './outbox';
import { roleSql, type RoleSql } from './role-sql';
import { rowId, type RowId } from './row-id';
import { encodeVersion } from './version';

/** Longest error text a list carries, in characters; the event page shows it whole. */
const LIST_ERROR_CHARACTERS = 500;
const WHOLE_ERROR_CHARACTERS = 100_000;

/** An event as the database answers it: texts, and integers where JavaScript holds them. */
export interface EventRow {
  id: string;
  /** With the library's own word behind a colon, where its rule has one. */
  state: string;
  type: string | null;
  aggregate_type: string | null;
  aggregate_id: string | null;
  created_at: string | null;
  published_at: string | null;
  attempted_at: string | null;
  attempts: string | null;
  max_attempts: string | null;
  error: string | null;
  dedup_key: string | null;
  trace_id: string | null;
  amount: string | null;
  currency: string | null;
  exact: string;
  stable: string;
}

type Role = Exclude<ColumnRole, 'id'>;

/** Expressions over one place of an outbox, under one alias. */
export interface PlaceSql {
  place: Place;
  alias: string;
  from: RawBuilder<unknown>;
  column(name: string): RawBuilder<unknown>;
  /** The columns that name the row. */
  id: RowId;
  role(role: Role): RoleSql | null;
  /** The role's value as text; NULL where the place lacks it. */
  roleText(role: Role): RawBuilder<string | null>;
  roleIso(role: Role): RawBuilder<string | null>;
  /** The role as an instant; null where the place lacks it. */
  roleInstant(role: Role): RawBuilder<unknown> | null;
  /** Whether the row is an event at all; null where every row of the place is. */
  rows: RawBuilder<boolean> | null;
  state: RawBuilder<string>;
  exact: RawBuilder<string>;
  stable: RawBuilder<string>;
}

/** Builds the expressions for a place. */
export function placeSql(outbox: Outbox, place: Place, alias = 'o'): PlaceSql {
  const { fragments } = outbox.database.engine;
  const { timeZone } = outbox.parameters;
  const column = (name: string): RawBuilder<unknown> => sql.id(alias, name);
  const role = (key: Role): RoleSql | null => roleSql(outbox, place, key, alias);
  const roleText = (key: Role): RawBuilder<string | null> => {
    const bound = role(key);
    return bound === null ? sql`cast(null as char(1))` : fragments.asText(bound.sql, bound.description);
  };
  const payload = role('payload');
  const id = rowId(outbox.database.engine, place, alias);
  const created = role('createdAt');
  return {
    place,
    alias,
    from: fragments.from(place.table, alias),
    column,
    id,
    rows: place.key === 'main' ? rowFilter(outbox.shape, alias, outbox.scope) : null,
    role,
    roleText,
    roleIso(key) {
      const bound = role(key);
      return bound === null ? sql`cast(null as char(1))` : fragments.isoTime(bound.sql, bound.description, timeZone);
    },
    roleInstant(key) {
      const bound = role(key);
      return bound === null ? null : fragments.instant(bound.sql, bound.description, timeZone);
    },
    state: placeState(outbox, place, alias),
    exact: fragments.rowVersion(alias, place.description, timeZone),
    stable: fragments.stableDigest([...id.columns.map((one) => one.sql), ...(created === null ? [] : [created.sql])], payload?.sql ?? null),
  };
}

function placeState(outbox: Outbox, place: Place, alias: string): RawBuilder<string> {
  if (place.key === 'main') return stateExpression(outbox.shape, alias, outbox.scope);
  return place.key === 'dead' ? sql`'dead'` : sql`'archived'`;
}

/** The select list every event is read with, wherever it is shown. */
export function eventColumns(outbox: Outbox, at: PlaceSql, errorLength: 'list' | 'whole' = 'list'): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const error = at.role('error');
  const payload = at.role('payload');
  const amount = (path: string[] | null | undefined): RawBuilder<unknown> =>
    path === null || path === undefined || payload === null || !mayHoldJson(payload.description)
      ? sql`cast(null as char(1))`
      : fragments.jsonText(payload.sql, path, payload.description);
  const limit = errorLength === 'list' ? LIST_ERROR_CHARACTERS : WHOLE_ERROR_CHARACTERS;
  const state = at.place.key === 'main' ? labelledState(outbox.shape, at.alias, outbox.scope) : at.state;
  return sql`${at.id.text} as id, ${state} as state, ${at.roleText('type')} as type, ${at.roleText('aggregateType')} as aggregate_type,
    ${at.roleText('aggregateId')} as aggregate_id, ${at.roleIso('createdAt')} as created_at, ${at.roleIso('publishedAt')} as published_at,
    ${at.roleIso('attemptedAt')} as attempted_at, ${at.roleText('attempts')} as attempts, ${at.roleText('maxAttempts')} as max_attempts,
    ${error === null ? sql`cast(null as char(1))` : fragments.head(error.sql, error.description, limit)} as error,
    ${at.roleText('dedupKey')} as dedup_key, ${at.roleText('traceId')} as trace_id,
    ${amount(outbox.amount?.value)} as amount, ${amount(outbox.amount?.currency)} as currency,
    ${at.exact} as exact, ${at.stable} as stable`;
}

/** MariaDB's JSON is a text, and who only reads the table is not told that it is more. */
export const mayHoldJson = ({ kind }: Pick<ColumnDescription, 'kind'>): boolean => kind === 'json' || kind === 'text';

/** The canonical event of a row; counts that are no plain number become null rather than a wrong number. */
export function toEvent(outbox: Outbox, place: Place['key'], row: EventRow): OutboxEvent {
  const [state = '', ...label] = row.state.split(':');
  return {
    id: row.id,
    state: isState(state) ? state : 'unmapped',
    stateLabel: ownWord(state, label.join(':')),
    type: row.type,
    aggregateType: row.aggregate_type,
    aggregateId: row.aggregate_id,
    createdAt: row.created_at,
    publishedAt: row.published_at,
    lastAttemptAt: row.attempted_at,
    attempts: countOf(row.attempts),
    maxAttempts: countOf(row.max_attempts) ?? outbox.parameters.maxAttempts,
    error: row.error,
    dedupKey: row.dedup_key,
    traceId: row.trace_id,
    amount: row.amount,
    currency: row.currency,
    version: encodeVersion({ place, exact: row.exact, stable: row.stable }),
  };
}

/** A word that only repeats the state is none. */
function ownWord(state: string, label: string): string | null {
  return label === '' || label.toLowerCase() === state ? null : label;
}

function countOf(text: string | null): number | null {
  const count = text === null ? null : Number(text);
  return count !== null && Number.isSafeInteger(count) ? count : null;
}

/** Columns of the archive that say how a row came there, as ISO times and texts. */
export function archiveFacts(outbox: Outbox, alias: string): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const text = (name: string): RawBuilder<unknown> => fragments.asText(sql.id(alias, name));
  const at = outbox.archive?.description.columns.get(ARCHIVE_COLUMNS.at);
  const archivedAt = at === undefined ? sql`cast(null as char(1))` : fragments.isoTime(sql.id(alias, ARCHIVE_COLUMNS.at), at, 'UTC');
  return sql`${archivedAt} as archived_at, ${text(ARCHIVE_COLUMNS.by)} as archived_by, ${text(ARCHIVE_COLUMNS.reason)} as archived_reason,
    ${text(ARCHIVE_COLUMNS.intervention)} as archived_by_intervention, ${text(ARCHIVE_COLUMNS.fromState)} as archived_from_state`;
}
