import { sql, type RawBuilder } from 'kysely';
import type { EngineKey } from '@/lib/shared/model';
import type { ColumnDescription } from './engine';

/** A type's name as the catalogue prints it, and nothing that could be more than a type. */
const TYPE = /^[\w ".[\](),]+$/;

const CASTS: Record<EngineKey, (value: RawBuilder<unknown>, type: string) => RawBuilder<unknown>> = {
  postgres: (value, type) => (TYPE.test(type) ? sql`cast(${value} as ${sql.raw(type)})` : value),
  mysql(value, type) {
    if (/^(datetime|timestamp)/i.test(type)) return sql`cast(${value} as datetime(${sql.raw(/\((\d)\)/.exec(type)?.[1] ?? '0')}))`;
    return /^decimal\(\d+,\d+\)$/i.test(type) ? sql`cast(${value} as ${sql.raw(type)})` : value;
  },
};

/** A value as it is after the column has taken it, rounded and cut to its type. */
export function asColumn(engine: EngineKey, value: RawBuilder<unknown>, { type }: ColumnDescription): RawBuilder<unknown> {
  return CASTS[engine](value, type);
}
