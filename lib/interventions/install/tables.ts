import type { Engine } from '@/lib/database/engine';
import type { ColumnDescription, TableName } from '@/lib/database/description';
import { ARCHIVE_COLUMNS, RECORDS_INDEX, archiveTable, fitName, recordTables, recordsKey } from '@/lib/outbox/companions';
import { quotedName, type Outbox } from '@/lib/outbox/outbox';
import { neededRights, type Rights } from '@/lib/outbox/rights/rights';

export interface InstallStatement {
  why: string;
  sql: string;
  /** An improvement, not a requirement: the installing login may lack the right. */
  optional?: true;
}

/** The parts of DDL that differ by engine. */
export interface Ddl {
  now: string;
  /** After a table's columns. */
  options: string;
  /** IF NOT EXISTS lets the printed script run twice, if the engine has it. */
  addColumn: 'ADD COLUMN' | 'ADD COLUMN IF NOT EXISTS';
  /** Indexes are part of CREATE TABLE. */
  indexesInside: boolean;
}

type Column = [name: string, type: string, rest: string];
type NewTable = { name: string; why: string; columns: Column[]; keys: string[]; index: [name: string, columns: string] };

function createTable({ quote }: Engine, ddl: Ddl, table: NewTable) {
  const { name, why, keys } = table;
  const [indexName, indexed] = table.index;
  const lines = [
    ...table.columns.map(([column, type, rest]) => `${quote.identifier(column)} ${type} ${rest}`),
    ...keys,
    ...(ddl.indexesInside ? [`KEY ${indexName} ${indexed}`] : []),
  ];
  const statements: InstallStatement[] = [
    { why, sql: `CREATE TABLE IF NOT EXISTS ${name} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${ddl.options}` },
  ];
  if (!ddl.indexesInside)
    statements.push({ why: 'What the console reads of it by index', sql: `CREATE INDEX IF NOT EXISTS ${indexName} ON ${name} ${indexed}` });
  return statements;
}

/** The tables of intervention records: one row per intervention, and one per event of it. */
export function recordStatements(engine: Engine, ddl: Ddl): InstallStatement[] {
  const { id, name, text, json, number, time } = engine.companions.columns;
  const { headers, events } = recordTables(engine);
  const column = (columnName: string, { type }: ColumnDescription, rest = 'NOT NULL'): Column => [columnName, type, rest];
  const key = (...names: string[]): string => `(${names.map(engine.quote.identifier).join(', ')})`;
  return [
    ...createTable(engine, ddl, {
      name: quotedName(engine, headers),
      why: 'One row per intervention, written in the transaction of the change; the console reads new ones by time',
      columns: [
        column('id', id, 'NOT NULL PRIMARY KEY'),
        ...['outbox', 'actor_id'].map((one) => column(one, name)),
        ...['actor_name', 'actor_role'].map((one) => column(one, text)),
        column('key', name),
        ...['request_hash', 'operation', 'reason'].map((one) => column(one, text)),
        column('outcome', name, "NULL CHECK (outcome IN ('applied', 'partly', 'none'))"),
        column('at', time, `NOT NULL DEFAULT ${ddl.now}`),
      ],
      keys: [`CONSTRAINT intervention_key UNIQUE ${key('outbox', 'actor_id', 'key')}`],
      index: ['intervention_outbox_at', key('outbox', 'at', 'id')],
    }),
    ...createTable(engine, ddl, {
      name: quotedName(engine, events),
      why: 'One row per event of an intervention: what it was before and after, or why it was skipped; counted by event whenever one is shown',
      columns: [
        column('intervention_id', id),
        column('position', number),
        column('event_id', text),
        ...['event_type', 'aggregate_id', 'code'].map((one) => column(one, text, 'NULL')),
        ...['detail', 'before', 'after'].map((one) => column(one, json, 'NULL')),
      ],
      keys: [
        `PRIMARY KEY ${key('intervention_id', 'position')}`,
        `FOREIGN KEY ${key('intervention_id')} REFERENCES ${quotedName(engine, headers)} ${key('id')}`,
      ],
      index: [RECORDS_INDEX, recordsKey(engine)],
    }),
  ];
}

/** The archive, and columns that the outbox gained since its archive was created. */
export function archiveStatements(outbox: Outbox, ddl: Ddl): InstallStatement[] {
  const { engine } = outbox.database;
  const { identifier } = engine.quote;
  const { id, name, text, time } = engine.companions.columns;
  const table = archiveTable(engine, outbox.id);
  const keys = outbox.main.id.map((column) => column.name);
  const columns = new Map<string, ColumnDescription>();
  for (const place of [outbox.dead, outbox.main])
    // What the database computes is kept as a value: it may have a role, and be computed otherwise by the time the archive is read.
    for (const column of place?.description.columns.values() ?? []) columns.set(column.name, column);
  const own: [string, ColumnDescription][] = [
    [ARCHIVE_COLUMNS.at, time],
    [ARCHIVE_COLUMNS.by, text],
    [ARCHIVE_COLUMNS.intervention, id],
    [ARCHIVE_COLUMNS.reason, text],
    [ARCHIVE_COLUMNS.fromState, name],
    [ARCHIVE_COLUMNS.fromTable, text],
  ];
  const added = [...columns.values()].filter((column) => outbox.archive?.description.columns.has(column.name) === false);
  return [
    ...createTable(engine, ddl, {
      name: quotedName(engine, table),
      why: `The archive of ${outbox.id}: the outbox's own columns, and when, by whom and from where; listed by time`,
      columns: [
        ...[...columns.values()].map((column): Column => [column.name, copied(column), keys.includes(column.name) ? 'NOT NULL' : NOTHING]),
        ...own.map(([column, { type }]): Column => [column, type, 'NOT NULL']),
      ],
      keys: [`PRIMARY KEY (${keys.map(identifier).join(', ')})`],
      index: [identifier(fitName(`${table.table}_at`)), `(${ARCHIVE_COLUMNS.at})`],
    }),
    ...added.map((column) => ({
      why: `Column ${column.name}, which the outbox gained since`,
      sql: `ALTER TABLE ${quotedName(engine, table)} ${ddl.addColumn} ${identifier(column.name)} ${copied(column)} ${NOTHING}`,
    })),
  ];
}

const NOTHING = 'NULL DEFAULT NULL';

/** A column's type as in the catalogue, with its collation, which is a separate field; without auto-increment or automatic times. */
const copied = ({ type, collation }: ColumnDescription): string =>
  collation === undefined ? type : `${type} CHARACTER SET ${collation.charset} COLLATE ${collation.name}`;

/** The operator's rights to change rows of the outbox, its dead letters and its archive, with the operations each right is for. */
export function operatorGrants(outbox: Outbox): { why: string; rights: string; table: TableName }[] {
  const { engine } = outbox.database;
  const { identifier } = engine.quote;
  const grants = [...neededRights(outbox)].flatMap(([place, needed]) => {
    const who = (has: (one: Rights) => boolean): string => needed.by.flatMap((one) => (has(one) ? one.operation : [])).join(', ');
    const moves = (['insert', 'delete'] as const).filter((right) => needed[right]);
    const columns = [...needed.update];
    const uses = [
      ...moves.map((right) => `${right.toUpperCase()} for ${who((one) => one[right])}`),
      ...columns.map((name) => `UPDATE (${identifier(name)}) for ${who(({ update }) => update.has(name))}`),
    ];
    const updates = columns.length === 0 ? [] : [`UPDATE (${columns.map(identifier).join(', ')})`];
    const rights = [...moves.map((right) => right.toUpperCase()), ...updates].join(', ');
    return uses.length === 0 ? [] : [{ why: `The operator on ${place.table.table}: ${uses.join('; ')}`, rights, table: place.table }];
  });
  if (outbox.shape.archive === undefined) return grants;
  return [
    ...grants,
    {
      why: `The archive: INSERT for archive; DELETE for restore; UPDATE (${ARCHIVE_COLUMNS.reason}) for restore, which locks a row by it`,
      rights: `INSERT, DELETE, UPDATE (${ARCHIVE_COLUMNS.reason})`,
      table: archiveTable(engine, outbox.id),
    },
  ];
}
