import { sql, type RawBuilder } from 'kysely';
import type { TableName } from './engine';

/** A table as SQL names it, its parts quoted one by one: a name may hold a dot. */
export function tableRef({ schema, table }: TableName): RawBuilder<unknown> {
  return schema === null ? sql.id(table) : sql.id(schema, table);
}
