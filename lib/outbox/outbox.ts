import type { OutboxConfig } from '@/lib/config/config';
import type { Engine } from '@/lib/database/engine';
import type { Database } from '@/lib/database/database';
import { type TableName, type TableRules } from '@/lib/database/description';
import type { ReadOnlyReason } from '@/lib/shared/changes/read-only';
import type { Parameters, Place, ShapeSettings } from '@/lib/shape/bound';
import type { Scope } from '@/lib/shape/compile';
import type { Shape } from '@/lib/shape/shape';

/** An outbox's configuration, as far as this room needs it. */
export type OutboxSettings = ShapeSettings &
  Pick<OutboxConfig, 'id' | 'name' | 'table' | 'links' | 'amount' | 'mask'> &
  Readonly<Partial<Pick<OutboxConfig, 'keys' | 'runbook' | 'consumers'>>>;

/** What the reader can do with the records: count an event's lines by index, or why not. */
export type RecordsSight = 'absent' | 'unreadable' | 'unindexed' | 'countable';

/** A configured outbox bound to its table. Immutable; binding again gives a new one. */
export interface Outbox {
  id: string;
  settings: OutboxSettings;
  database: Database;
  /** Names as in the catalogue, parameters filled in, without parts this table lacks. */
  shape: Shape;
  parameters: Parameters;
  main: Place;
  dead: Place | null;
  /** The console's own table for archived events; null until installed. */
  archive: Place | null;
  records: RecordsSight;
  /** Outboxes configured on other tables of its database. */
  elsewhere: readonly string[];
  /** The scope for compiling conditions on rows of the outbox table. */
  scope: Scope;
  /** Replaces the shape's NOTIFY channel: from the configuration, or from the table's own trigger; null if neither has one. */
  channel: string | null;
  /** Triggers and rules of its tables, which act on written rows. */
  rules: { main: TableRules; dead: TableRules | null };
  /** Operations that failed their proof on this table with this mapping. */
  refused: readonly string[];
  whyReadOnly: ReadOnlyReason | null;
}

/** An outbox whose tables were found, before its proof and rights are judged. */
export type FoundOutbox = Omit<Outbox, 'refused' | 'whyReadOnly'>;

/** A table's name for people: `schema.table`, or the name alone if the database has no schemas. */
export const tableLabel = ({ schema, table }: TableName): string => (schema === null ? table : `${schema}.${table}`);

/** A table's quoted name, for statements that people run. */
export const quotedName = ({ quote }: Pick<Engine, 'quote'>, { schema, table }: TableName): string =>
  (schema === null ? [table] : [schema, table]).map(quote.identifier).join('.');

/** What says when a dead event died. */
export const deadSinceRole = ({ roles }: Place): 'diedAt' | 'attemptedAt' => (roles.diedAt === undefined ? 'attemptedAt' : 'diedAt');

/** Places whose rows are the outbox's current events: the table and its dead-letter table. */
export const livePlaces = ({ main, dead }: Pick<Outbox, 'main' | 'dead'>): Place[] => (dead === null ? [main] : [main, dead]);

/** The same with the archive, if there is one. */
export const allPlaces = (outbox: Outbox): Place[] => [...livePlaces(outbox), ...(outbox.archive === null ? [] : [outbox.archive])];

/** Without a useful index, places up to this many rows may be read whole for one page. */
const SMALL_ROWS = 200_000;

/** Whether reading every row is quick. Also true if the number of rows is unknown: only trying shows it then. */
export function isSmall(place: Place): boolean {
  const rows = place.description.estimatedRows;
  return rows === null || rows <= SMALL_ROWS;
}
