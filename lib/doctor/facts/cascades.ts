import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import { tablesRead } from '@/lib/outbox/rights/rights';
import type { CascadeFacts, TableFacts } from './facts';

const SHOWN = 20;

const quotedNames = (outbox: Outbox): string[] =>
  tablesRead(outbox).map(({ schema, table }) =>
    (schema === null ? [table] : [schema, table]).map(outbox.database.engine.quote.identifier).join('.'),
  );

/** Foreign keys on PostgreSQL that delete events of these tables with a row of somebody else's. Catalogue alone, by oid. */
export async function readCascades(db: Db, outbox: Outbox, tables: readonly TableFacts[]): Promise<CascadeFacts[]> {
  const { identifier } = outbox.database.engine.quote;
  const { rows } = await sql<{ table: string; key: string; from: string; own: boolean }>`
    select t.name as table, c.conname::text as key, format('%I.%I', n.nspname, r.relname) as "from", c.conparentid = 0 as own
    from unnest(${tables.map(({ quoted }) => quoted)}::text[]) as t(name) join pg_constraint c on c.conrelid = t.name::regclass
      join pg_class r on r.oid = c.confrelid join pg_namespace n on n.oid = r.relnamespace
    where c.contype = 'f' and c.confdeltype = 'c' and coalesce(to_jsonb(c) ->> 'conenforced', 'true') <> 'false'
      and c.confrelid not in (select o.name::regclass from unnest(${quotedNames(outbox)}::text[]) as o(name))
    order by 1, 2 limit ${sql.lit(SHOWN)}`.execute(db);
  // A part of a table has the keys of the whole: they are dropped there.
  return rows.map(({ own, ...row }) => ({
    ...row,
    drop: own ? `ALTER TABLE ${row.table} DROP CONSTRAINT ${identifier(row.key)};` : null,
  }));
}

/** One key of a table as MySQL and MariaDB print it: its name, the table that it refers to, and what it says besides. */
const PRINTED = /^\s*CONSTRAINT (`(?:[^`]|``)+`) FOREIGN KEY \([^)]*\) REFERENCES ((?:`(?:[^`]|``)+`\.)?`(?:[^`]|``)+`) \([^)]*\)(.*)$/;

/**
 * The same on MySQL and MariaDB, from the table as it is printed to whoever may read it: the catalogue tells of keys to those
 * alone who may also write. No row is read.
 */
export async function readMysqlCascades(db: Db, outbox: Outbox, tables: readonly TableFacts[]): Promise<CascadeFacts[]> {
  const own = new Set(quotedNames(outbox));
  const found: CascadeFacts[] = [];
  for (const { place, quoted } of tables) {
    if (place.description.kind !== 'table') continue;
    const { schema } = place.table;
    const beside = schema === null ? null : outbox.database.engine.quote.identifier(schema);
    const { rows } = await sql<Record<string, string>>`show create table ${sql.raw(quoted)}`.execute(db);
    for (const line of rows[0]?.['Create Table']?.split('\n') ?? []) {
      const [, key, printed, rest = ''] = PRINTED.exec(line) ?? [];
      if (key === undefined || printed === undefined) continue;
      // A table beside this one is printed without its schema.
      const from = beside === null || printed.includes('`.`') ? printed : `${beside}.${printed}`;
      if (!rest.includes('ON DELETE CASCADE') || own.has(from)) continue;
      found.push({ table: quoted, key: unquoted(key), from, drop: `ALTER TABLE ${quoted} DROP FOREIGN KEY ${key};` });
    }
  }
  return found.slice(0, SHOWN);
}

const unquoted = (name: string): string => name.slice(1, -1).replaceAll('``', '`');
