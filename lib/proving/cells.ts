/** Values as a table takes them. */
import { randomInt, randomUUID } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import type { ColumnDescription } from '@/lib/database/engine';
import type { ColumnRules } from '@/lib/database/table-rules';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Cell } from './solve';

/** No type-fitting value is known. */
export class NoValue extends Error {}

/** A cell as SQL for a column. Throws NoValue. */
export function cellSql(outbox: Outbox, column: ColumnDescription, rules: ColumnRules | undefined, cell: Cell): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  if ('null' in cell) return sql`null`;
  if ('value' in cell) return fragments.typed(String(cell.value), column);
  if ('anything' in cell) return fragments.typed(anything(column, rules), column);
  return fragments.fromInstant(fragments.secondsAgo(cell.secondsAgo), column, outbox.parameters.timeZone);
}

/** A value that no other row has, for keys. Throws NoValue. */
export function freshValue(column: ColumnDescription, rules: ColumnRules | undefined): string {
  if (column.kind === 'uuid') return randomUUID();
  // A counter that follows what it is given must not be led anywhere: it counts from one upwards.
  if (column.kind === 'integer') return rules?.followsGiven === true ? String(-1 - randomInt(30_000)) : freshInteger(column.type);
  if (column.kind === 'decimal') return String(9_000_000 + randomInt(999_999));
  if (column.kind === 'text' && rules?.labels == null) return `oc-proof-${randomUUID()}`.slice(-(rules?.maxLength ?? 45));
  if (column.kind === 'binary') return randomUUID().replaceAll('-', '');
  return anything(column, rules);
}

/** Far above what a counter has reached, so that no counter is asked and none is met. */
function freshInteger(type: string): string {
  if (/^(smallint|tinyint|mediumint)/i.test(type)) return String(30_000 + randomInt(2_700));
  if (/^(integer|int)\b/i.test(type)) return String(2_000_000_000 + randomInt(147_000_000));
  return String(9_000_000_000_000_000_000n + BigInt(randomInt(1_000_000_000)) * 100n);
}

/** A value of the type, as text, with nothing in it. Throws NoValue for types that nobody has taught it. */
function anything({ kind, type }: ColumnDescription, rules: ColumnRules | undefined): string {
  if (rules?.labels != null) return rules.labels[0] ?? '';
  // MariaDB's JSON: a long text with a check that not everybody may see.
  if (/^longtext\b/i.test(type)) return '{}';
  if (kind === 'text') return 'outbox-console-proof'.slice(0, rules?.maxLength ?? undefined);
  if (kind === 'integer' || kind === 'decimal') return '0';
  if (kind === 'boolean') return 'false';
  if (kind === 'uuid') return randomUUID();
  if (kind === 'json') return '{}';
  if (kind === 'binary') return /^binary\((\d+)\)/i.test(type) ? '00'.repeat(Number(/\((\d+)\)/.exec(type)?.[1])) : '00';
  if (kind === 'instant' || kind === 'wall_clock') return '2026-01-01 00:00:00';
  if (/\[\]$/.test(type)) return '{}';
  if (/^interval/.test(type)) return '1 second';
  if (/^time\b/.test(type)) return '00:00:00';
  if (/^(inet|cidr)$/.test(type)) return '127.0.0.1';
  throw new NoValue(type);
}
