import { sql, type RawBuilder } from 'kysely';
import type { ColumnDescription, Fragments } from '@/lib/database/engine';
import type { OutboxEvent } from '@/lib/shared/model';
import { isState } from '@/lib/shared/states';
import { ARCHIVE_COLUMNS } from './companions';
import { stateExpression } from './conditions';
import type { Outbox, Place } from './outbox';
import type { ColumnRole } from './shape';
import { encodeVersion } from './version';

/** Longest error text a list carries, in characters; the event page shows it whole. */
const LIST_ERROR_CHARACTERS = 500;
const WHOLE_ERROR_CHARACTERS = 100_000;

/** An event as the database answers it: texts, and integers where JavaScript holds them. */
export interface EventRow {
  id: string;
  state: string;
  type: string | null;
  aggregate_type: string | null;
  aggregate_id: string | null;
  created_at: string | null;
  published_at: string | null;
  attempted_at: string | null;
  attempts: string | null;
  error: string | null;
  dedup_key: string | null;
  trace_id: string | null;
  amount: string | null;
  currency: string | null;
  exact: string;
  stable: string;
}

/** Expressions over one place of an outbox, under one alias. */
export interface PlaceSql {
  place: Place;
  alias: string;
  from: RawBuilder<unknown>;
  column(name: string): RawBuilder<unknown>;
  role(role: ColumnRole): { sql: RawBuilder<unknown>; description: ColumnDescription } | null;
  /** The role's value as text; NULL where the place lacks it. */
  roleText(role: ColumnRole): RawBuilder<string | null>;
  roleIso(role: ColumnRole): RawBuilder<string | null>;
  /** The role as an instant; null where the place lacks it. */
  roleInstant(role: ColumnRole): RawBuilder<unknown> | null;
  state: RawBuilder<string>;
  exact: RawBuilder<string>;
  stable: RawBuilder<string>;
}

/** Builds the expressions for a place. The id role is always there: binding refuses a table without it. */
export function placeSql(outbox: Outbox, place: Place, alias = 'o'): PlaceSql {
  const { fragments } = outbox.database.engine;
  const { timeZone } = outbox.parameters;
  const column = (name: string): RawBuilder<unknown> => sql.id(alias, name);
  const role = (key: ColumnRole): { sql: RawBuilder<unknown>; description: ColumnDescription } | null => {
    const bound = place.roles[key];
    if (bound === undefined) return null;
    if (bound.path.length === 0) return { sql: column(bound.column.name), description: bound.column };
    return { sql: fragments.jsonText(column(bound.column.name), bound.path), description: { ...bound.column, kind: 'text', type: 'text' } };
  };
  const roleText = (key: ColumnRole): RawBuilder<string | null> => {
    const bound = role(key);
    return bound === null ? sql`cast(null as char(1))` : fragments.asText(bound.sql, bound.description);
  };
  const payload = role('payload');
  const id = role('id');
  const created = role('createdAt');
  return {
    place,
    alias,
    from: fragments.from(place.table, alias),
    column,
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
    state: placeState(outbox, place, alias, fragments),
    exact: fragments.rowVersion(alias, place.description, timeZone),
    stable: fragments.stableDigest([...(id === null ? [] : [id.sql]), ...(created === null ? [] : [created.sql])], payload?.sql ?? null),
  };
}

function placeState(outbox: Outbox, place: Place, alias: string, fragments: Fragments): RawBuilder<string> {
  if (place.key === 'main') return stateExpression(outbox.shape, alias, fragments);
  return place.key === 'dead' ? sql`'dead'` : sql`'archived'`;
}

/** The select list every event is read with, wherever it is shown. */
export function eventColumns(outbox: Outbox, at: PlaceSql, errorLength: 'list' | 'whole' = 'list'): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const error = at.role('error');
  const payload = at.role('payload');
  const amount = (path: string[] | null | undefined): RawBuilder<unknown> =>
    path === null || path === undefined || payload?.description.kind !== 'json'
      ? sql`cast(null as char(1))`
      : fragments.jsonText(payload.sql, path);
  const limit = errorLength === 'list' ? LIST_ERROR_CHARACTERS : WHOLE_ERROR_CHARACTERS;
  return sql`${at.roleText('id')} as id, ${at.state} as state, ${at.roleText('type')} as type, ${at.roleText('aggregateType')} as aggregate_type,
    ${at.roleText('aggregateId')} as aggregate_id, ${at.roleIso('createdAt')} as created_at, ${at.roleIso('publishedAt')} as published_at,
    ${at.roleIso('attemptedAt')} as attempted_at, ${at.roleText('attempts')} as attempts,
    ${error === null ? sql`cast(null as char(1))` : fragments.head(error.sql, error.description, limit)} as error,
    ${at.roleText('dedupKey')} as dedup_key, ${at.roleText('traceId')} as trace_id,
    ${amount(outbox.amount?.value)} as amount, ${amount(outbox.amount?.currency)} as currency,
    ${at.exact} as exact, ${at.stable} as stable`;
}

/** The canonical event of a row; counts that are no plain number become null rather than a wrong number. */
export function toEvent(outbox: Outbox, place: Place['key'], row: EventRow): OutboxEvent {
  const attempts = row.attempts === null ? null : Number(row.attempts);
  return {
    id: row.id,
    state: isState(row.state) ? row.state : 'unmapped',
    type: row.type,
    aggregateType: row.aggregate_type,
    aggregateId: row.aggregate_id,
    createdAt: row.created_at,
    publishedAt: row.published_at,
    lastAttemptAt: row.attempted_at,
    attempts: attempts !== null && Number.isSafeInteger(attempts) ? attempts : null,
    maxAttempts: outbox.parameters.maxAttempts,
    error: row.error,
    dedupKey: row.dedup_key,
    traceId: row.trace_id,
    amount: row.amount,
    currency: row.currency,
    version: encodeVersion({ place, exact: row.exact, stable: row.stable }),
  };
}

/** Columns of the archive that say how a row came there, as ISO times and texts. */
export function archiveFacts(outbox: Outbox, alias: string): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const text = (name: string): RawBuilder<unknown> => fragments.asText(sql.ref(`${alias}.${name}`));
  const at = outbox.archive?.description.columns.get(ARCHIVE_COLUMNS.at);
  const archivedAt =
    at === undefined ? sql`cast(null as char(1))` : fragments.isoTime(sql.ref(`${alias}.${ARCHIVE_COLUMNS.at}`), at, 'UTC');
  return sql`${archivedAt} as archived_at, ${text(ARCHIVE_COLUMNS.by)} as archived_by, ${text(ARCHIVE_COLUMNS.reason)} as archived_reason,
    ${text(ARCHIVE_COLUMNS.intervention)} as archived_by_intervention, ${text(ARCHIVE_COLUMNS.fromState)} as archived_from_state`;
}
