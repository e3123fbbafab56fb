/** Reading rows as the mapping reads them, with every column beside. */
import { sql, type RawBuilder } from 'kysely';
import { asColumn } from '@/lib/database/as-column';
import type { Outbox, Place } from '@/lib/outbox/outbox';
import { eventColumns, placeSql, toEvent, type EventRow, type PlaceSql } from '@/lib/outbox/row';
import type { Step } from '@/lib/interventions/operation';
import { valueOf } from '@/lib/interventions/statements';
import type { OutboxEvent } from '@/lib/shared/model';
import type { Bench } from './bench';

export interface Seen {
  event: OutboxEvent;
  /** Every column as text; payload and headers as a digest, for they may be long and are nobody's business here. */
  columns: Record<string, string | null>;
}

/** The row as the mapping reads it; null when it is not there, or not to be seen. By the key. */
export async function look({ outbox, db }: Bench, place: Place, id: string): Promise<Seen | null> {
  const at = placeSql(outbox, place);
  const names = [...place.description.columns.keys()];
  const texts = names.map((name) => ({ name, column: columnText(outbox, at, name) }));
  const { rows } = await sql<
    EventRow & { image: string }
  >`select ${eventColumns(outbox, at)}, ${outbox.database.engine.fragments.rowAsJson(texts)} as image
    from ${at.from} where ${at.id.is(id)}`.execute(db);
  const row = rows[0];
  if (row === undefined) return null;
  return { event: toEvent(outbox, place.key, row), columns: JSON.parse(row.image) as Record<string, string | null> };
}

function columnText(outbox: Outbox, at: PlaceSql, name: string): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const column = at.column(name);
  if (!contentColumns(at.place).has(name)) return fragments.asText(column, at.place.description.columns.get(name));
  return sql`case when ${column} is null then null else ${fragments.stableDigest([], column)} end`;
}

/** Columns whose text is never shown. */
export function contentColumns({ roles }: Place): Set<string> {
  return new Set(
    [roles.payload, roles.headers].flatMap((role) =>
      role === undefined || role.join !== null || role.constant !== null ? [] : [role.column.name],
    ),
  );
}

/** True when the step is for this row as it is. */
export async function isFor({ outbox, db }: Bench, step: Step, id: string): Promise<boolean> {
  const at = placeSql(outbox, step.source);
  const { rows } = await sql<{ one: number }>`select 1 as one from ${at.from} where ${at.id.is(id)} and ${step.match(at)}`.execute(db);
  return rows.length > 0;
}

/** What the step's assignments come to on this row, as the columns would print it. Times stand still within a transaction. */
export async function intended({ outbox, db }: Bench, step: Step, id: string): Promise<Record<string, string | null>> {
  const entries = Object.entries(step.set);
  if (entries.length === 0) return {};
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, step.source);
  const target = step.target ?? step.source;
  const texts = entries.flatMap(([name, value]) => {
    const column = target.description.columns.get(name);
    return column === undefined
      ? []
      : [
          {
            name,
            column: fragments.asText(asColumn(outbox.database.engine.key, valueOf(outbox, target, at, name, value), column), column),
          },
        ];
  });
  const { rows } = await sql<{
    image: string;
  }>`select ${fragments.rowAsJson(texts)} as image from ${at.from} where ${at.id.is(id)}`.execute(db);
  return JSON.parse(rows[0]?.image ?? '{}') as Record<string, string | null>;
}
