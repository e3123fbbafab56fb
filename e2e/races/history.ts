/** Ground truth for the race tests: every change of every table an event can be in, written down by triggers. */
import type { ColumnDescription, TableName } from '@/lib/database/description';
import { recordTables } from '@/lib/outbox/companions';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import type { EngineKey } from '@/lib/shared/model';
import { ENGINES, type AnyTestDatabase } from '@/scripts/testing/outbox';
import { mysqlWitness } from './history-mysql';
import { postgresWitness } from './history-postgres';
import { type Image, type WatchedTable, type Witness } from './witness';

export interface Change {
  seq: string;
  place: Place['key'];
  op: 'INSERT' | 'UPDATE' | 'DELETE';
  event_id: string;
  before: Image | null;
  after: Image | null;
  /** Made by the console's operator role. */
  ours: boolean;
  /** The intervention in whose transaction it was made; null where there was none. */
  intervention: string | null;
  at: Date;
}

const WITNESSES: Record<EngineKey, Witness> = { postgres: postgresWitness, mysql: mysqlWitness };

/** The quoted name of a table. */
export function quoted(engine: EngineKey, { schema, table }: TableName): string {
  return [schema, table].flatMap((name) => (name === null ? [] : [ENGINES[engine].quote.identifier(name)])).join('.');
}

/** A table of an outbox as its triggers see it. */
export function watched(engine: EngineKey, { key, table, description, id }: Place): WatchedTable {
  const { text, object } = WITNESSES[engine];
  const { identifier } = ENGINES[engine].quote;
  const texts = (row: string, columns: ColumnDescription[]): string[] =>
    columns.map((column) => text(`${row}.${identifier(column.name)}`, column));
  const columns = [...description.columns.values()];
  return {
    place: key,
    name: quoted(engine, table),
    // Of several columns one text, as the console's ids have it.
    id(row) {
      const parts = texts(row, id);
      if (parts.length === 1) return parts[0] ?? '';
      return `concat(${parts.map((part) => `replace(replace(${part}, '%', '%25'), '~', '%7E')`).join(", '~', ")})`;
    },
    image: (row) =>
      object(
        columns.map(({ name }) => name),
        texts(row, columns),
      ),
  };
}

/** Puts the triggers on the outbox, its dead-letter table, its archive, and on the records, which say whose change it is. */
export async function watchHistory(database: AnyTestDatabase, outbox: Outbox): Promise<void> {
  const { engine } = database;
  const places = [outbox.main, outbox.dead, outbox.archive].flatMap((place) => (place === null ? [] : [watched(engine, place)]));
  const headers = quoted(engine, recordTables(ENGINES[engine]).headers);
  for (const statement of WITNESSES[engine].ddl(places, headers)) await database.query(statement);
}

interface StoredChange extends Omit<Change, 'before' | 'after' | 'ours' | 'at'> {
  image_before: string | null;
  image_after: string | null;
  ours: boolean | number;
  /** ISO 8601, in UTC. */
  at: string;
}

export async function readHistory(database: AnyTestDatabase): Promise<Change[]> {
  const rows = await database.query<StoredChange & Record<string, unknown>>('SELECT * FROM history ORDER BY seq');
  const parsed = (text: string | null): Image | null => (text === null ? null : (JSON.parse(text) as Image));
  return rows.map(({ image_before: before, image_after: after, ...row }) => ({
    ...row,
    before: parsed(before),
    after: parsed(after),
    ours: Boolean(Number(row.ours)),
    at: new Date(row.at),
  }));
}

export interface StoredRecord extends Record<string, unknown> {
  intervention_id: string;
  operation: string;
  event_id: string;
  code: string | null;
  /** As the console wrote them; without payload and headers. */
  before: Image | null;
  after: Image | null;
  at: Date;
}

/** What the console's own record in the database says, oldest first. */
export async function readRecords(database: AnyTestDatabase): Promise<StoredRecord[]> {
  const { engine } = database;
  const { headers, events } = recordTables(ENGINES[engine]);
  const named = (alias: string, ...names: string[]): string =>
    names.map((name) => `${alias}.${ENGINES[engine].quote.identifier(name)}`).join(', ');
  const rows = await database.query<StoredRecord>(
    `SELECT ${named('e', 'intervention_id', 'event_id', 'code', 'before', 'after')}, ${named('i', 'operation', 'at')}
      FROM ${quoted(engine, events)} e JOIN ${quoted(engine, headers)} i ON i.id = e.intervention_id ORDER BY i.at, e.intervention_id, e.position`,
  );
  const parsed = (value: unknown): Image | null => (typeof value === 'string' ? (JSON.parse(value) as Image) : (value as Image | null));
  return rows.map((row) => ({ ...row, before: parsed(row.before), after: parsed(row.after), at: new Date(row.at) }));
}
