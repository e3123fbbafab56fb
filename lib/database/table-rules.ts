/** What a table does to the rows written into it, beside holding them: what has to be known before its rows are changed. */
import type { EngineKey } from '@/lib/shared/model';
import type { Db, TableName } from './engine';
import { readMysqlTableRules } from './mysql/table-rules';
import { readPostgresTableRules } from './postgres/table-rules';

export interface TriggerRules {
  name: string;
  timing: 'before' | 'after' | 'instead';
  events: ('insert' | 'update' | 'delete')[];
  /** The function it runs; the trigger itself where it has a body of its own. */
  calls: string;
  language: string;
  /** What it does, as text; empty for compiled code. */
  source: string;
  enabled: boolean;
}

export interface TableRules {
  /** null where this role may not see them. */
  triggers: TriggerRules[] | null;
  /** True where statements on the table are rewritten into others. */
  rewritten: boolean;
  /** True where policies decide which rows a role sees. */
  rowSecurity: boolean;
  /** False where what was written cannot be taken back. */
  transactional: boolean;
  /** Equal as long as columns, their types and the triggers are what they were. */
  signature: string;
}

const READERS: Record<EngineKey, (db: Db, tables: Required<TableName>[]) => Promise<TableRules[]>> = {
  postgres: readPostgresTableRules,
  mysql: readMysqlTableRules,
};

/**
 * The rules of each of these tables, in their order, by one look into the catalogue; locks nothing. Throws DatabaseFailure,
 * `missing` when a table is gone.
 */
export function readTableRules(engine: EngineKey, db: Db, tables: Required<TableName>[]): Promise<TableRules[]> {
  return READERS[engine](db, tables);
}
