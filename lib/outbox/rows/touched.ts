import { sql, type RawBuilder } from 'kysely';
import type { TableName } from '@/lib/database/description';
import { capturedOf, filledName } from '@/lib/shape/bind/find-table';
import { capabilitiesOf } from '../capabilities';
import { LINE_OUTBOX, recordTables } from '../companions';
import { tableParts } from '@/lib/shape/schema/names';
import { allPlaces, type Outbox, type OutboxSettings } from '../outbox';
import type { Place } from '@/lib/shape/bound';
import { or } from '@/lib/shape/compile';
import type { RowId } from './row-id';

/**
 * How many applied lines the records have for the event, as its row may look unchanged. A count, because ids depend on clocks. NULL for
 * rows that no operation takes, or if records cannot be counted. Served by the index on the lines' `event_id`; locks nothing.
 */
export function touchedCount(outbox: Outbox, at: { place: Place; id: RowId; state: RawBuilder<string> }): RawBuilder<string | null> {
  const states = statesTaken(outbox, at.place);
  if (outbox.records !== 'countable' || states.length === 0) return NOT_COUNTED;
  const lines = appliedLines(outbox, at.id.text);
  return at.place.key === 'main'
    ? sql`case when ${at.state} in (${sql.join(states.map((state) => sql.lit(state)))}) then ${lines} end`
    : lines;
}

/** The same for rows already read, by their column names: a merged list reads more rows than it shows. */
export function touchedCountOfRead(outbox: Outbox, alias: string): RawBuilder<string | null> {
  if (outbox.records !== 'countable') return NOT_COUNTED;
  const [place, state] = [sql.id(alias, 'place'), sql.id(alias, 'state')];
  const counted = allPlaces(outbox).flatMap((one) => {
    // The library's own name may follow the state.
    const are = statesTaken(outbox, one).map((name) => sql<boolean>`${state} = ${sql.lit(name)} or ${state} like ${sql.lit(`${name}:%`)}`);
    return are.length === 0 ? [] : [sql<boolean>`${place} = ${sql.lit(one.key)} and (${or(are)})`];
  });
  if (counted.length === 0) return NOT_COUNTED;
  return sql`case when ${or(counted)} then ${appliedLines(outbox, sql.id(alias, 'id'))} end`;
}

const NOT_COUNTED = sql<null>`cast(null as char(1))`;

/** Whether an operation changed the event, for outboxes whose records can be counted; served like `touchedCount`. */
export const isTouched = (outbox: Outbox, id: RawBuilder<unknown>): RawBuilder<boolean> => sql`${appliedLines(outbox, id)} <> '0'`;

function appliedLines(outbox: Outbox, id: RawBuilder<unknown>): RawBuilder<string> {
  const { engine } = outbox.database;
  const line = (name: string): RawBuilder<unknown> => sql.id('touching', name);
  const others = outbox.elsewhere.length === 0 ? sql`` : sql` and ${engine.fragments.notTrue(isOfOthers(outbox, line))}`;
  return sql`(select ${engine.fragments.asText(sql`count(*)`)} from ${engine.fragments.from(recordTables(engine).events, 'touching')}
      where ${engine.fragments.isText(line('event_id'), id)} and ${line('code')} is null${others})`;
}

/** Whether a line belongs to an outbox on another table. The header is read only for lines that do not name their outbox. */
function isOfOthers({ database: { engine }, elsewhere }: Outbox, line: (name: string) => RawBuilder<unknown>): RawBuilder<boolean> {
  const own = engine.fragments.jsonText(line('detail'), [LINE_OUTBOX], engine.companions.columns.json);
  const headers = engine.fragments.from(recordTables(engine).headers, 'decided');
  const written = sql`(select ${sql.id('decided', 'outbox')} from ${headers} where ${sql.id('decided', 'id')} = ${line('intervention_id')})`;
  const names = sql.join(elsewhere);
  return sql<boolean>`(case when ${own} is null then ${written} in (${names}) else ${own} in (${names}) end)`;
}

/** The states of the place in which some operation of this outbox takes rows. */
function statesTaken(outbox: Outbox, { key }: Place): string[] {
  const taken = new Set<string>(Object.values(capabilitiesOf(outbox).operations).flatMap((offer) => (offer.offered ? offer.from : [])));
  return [...taken].filter((state) => (key === 'main' ? state !== 'archived' : state === (key === 'dead' ? 'dead' : 'archived')));
}

/** The outboxes of `others` that are certainly on other tables: their lines are about other events, even with equal ids. */
export function configuredElsewhere(tables: readonly TableName[], others: readonly OutboxSettings[]): string[] {
  // Names are found regardless of case and underscores, and a name with a dot may mean schema and table.
  const plain = (name: string): string => name.toLowerCase().replaceAll('_', '');
  const last = (table: string): string => plain(table.slice(table.lastIndexOf('.') + 1));
  const isOther = (own: TableName, named: TableName): boolean => {
    if (last(own.table) !== last(named.table)) return true;
    return own.schema !== null && named.schema !== null && !own.table.includes('.') && plain(own.schema) !== plain(named.schema);
  };
  return others.filter((other) => tablesNamed(other).every((named) => tables.every((own) => isOther(own, named)))).map(({ id }) => id);
}

function tablesNamed({ table, shape, inline, parameters }: OutboxSettings): TableName[] {
  const main = tableParts(table);
  const given = parameters.deadTable ?? shape.dead?.table;
  if (given === undefined) return [main];
  const dead = tableParts(filledName(given, capturedOf(shape, main.table, inline)));
  return [main, { ...dead, schema: dead.schema ?? main.schema }];
}
