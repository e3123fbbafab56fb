import type { Engine } from '@/lib/database/engine';
import type { Database } from '@/lib/database/database';
import { type TableName, type TableRules } from '@/lib/database/description';
import type { ReadOnlyReason } from '@/lib/shared/changes/read-only';
import type { Parameters, Place, ShapeSettings } from '@/lib/shape/bound';
import type { Scope } from '@/lib/shape/compile';
import type { TableRef } from '@/lib/shape/schema/names';
import type { Shape } from '@/lib/shape/shape';

/** What the configuration says about an outbox, as far as the outbox room needs it. */
export interface OutboxSettings extends ShapeSettings {
  id: string;
  name: string;
  /** As written; the catalogue has the last word on its spelling. */
  table: TableRef;
  links: { label: string; url: string }[];
  amount: { value: string; currency?: string } | null;
  mask: string[];
}

/** What the reader can do with the records: count the lines of an event by their index, or why not. */
export type RecordsSight = 'absent' | 'unreadable' | 'unindexed' | 'countable';

/** A configured outbox bound to the table it was found in. Immutable; binding again gives a new one. */
export interface Outbox {
  id: string;
  settings: OutboxSettings;
  database: Database;
  /** Every name as the catalogue has it, every parameter put in, and without what this table lacks. */
  shape: Shape;
  parameters: Parameters;
  /** Parameters that neither the database nor the configuration holds: the library's default is taken. */
  assumed: string[];
  main: Place;
  dead: Place | null;
  /** The console's own table for archived events; null until installed. */
  archive: Place | null;
  /** What its reader can do with the console's records of changes to it. */
  records: RecordsSight;
  /** Outboxes configured in its database on other tables. */
  elsewhere: readonly string[];
  /** What conditions on rows of the outbox table are compiled against. */
  scope: Scope;
  /** Overrides the channel of the shape's NOTIFY: the configuration's, or the one the table's own trigger uses. */
  channel: string | null;
  /** What its tables do to rows written into them. */
  rules: { main: TableRules; dead: TableRules | null };
  /** Operations that failed their proof on this table with this mapping. */
  refused: readonly string[];
  whyReadOnly: ReadOnlyReason | null;
}

/** One whose tables were found, before it is known what can be done with it. */
export type FoundOutbox = Omit<Outbox, 'refused' | 'whyReadOnly'>;

/** What people call a table: `schema.table`, or its name alone where the database has no schemas. */
export function tableLabel({ schema, table }: TableName): string {
  return schema === null ? table : `${schema}.${table}`;
}

/** A table as a statement for people names it. */
export const quotedName = ({ quote }: Pick<Engine, 'quote'>, { schema, table }: TableName): string =>
  (schema === null ? [table] : [schema, table]).map(quote.identifier).join('.');

/** Places whose rows are events of the outbox now: the table and its dead-letter table. */
export const livePlaces = ({ main, dead }: Pick<Outbox, 'main' | 'dead'>): Place[] => (dead === null ? [main] : [main, dead]);

/** The same with the archive, where there is one. */
export const allPlaces = (outbox: Outbox): Place[] => [...livePlaces(outbox), ...(outbox.archive === null ? [] : [outbox.archive])];

/** Places up to this many rows may be read whole for one page, where no index helps. */
const SMALL_ROWS = 200_000;

/** True where reading every row is still quick; where nobody can tell how many there are, only trying can. */
export function isSmall(place: Place): boolean {
  const rows = place.description.estimatedRows;
  return rows === null || rows <= SMALL_ROWS;
}
