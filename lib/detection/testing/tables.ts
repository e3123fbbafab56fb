/** Makes tables out of their column facts, on either engine. */
import type { CatalogueColumn, CatalogueTable } from '@/lib/database/catalogue';
import type { EngineKey } from '@/lib/shared/model';
import type { TableFact } from './shape-facts';

interface ColumnFact {
  name: string;
  type: string;
}

/** Splits at commas outside parentheses: types such as `decimal(10,2)` keep theirs. */
export function columnsOf(fact: Pick<TableFact, 'columns'>): ColumnFact[] {
  return fact.columns.split(/,\s*(?![^(]*\))/).map((text) => {
    const at = text.trim().lastIndexOf(' ');
    return {
      name: text.trim().slice(0, at).replaceAll('"', ''),
      type: text
        .trim()
        .slice(at + 1)
        .replaceAll('_', ' '),
    };
  });
}

const MYSQL_TYPES: Record<string, string> = {
  uuid: 'char(36)', text: 'longtext', jsonb: 'json', json: 'json', timestamptz: 'datetime(6)', timestamp: 'datetime(6)', 'timestamp(6)': 'datetime(6)',
  'timestamp(3)': 'datetime(3)', bytea: 'longblob', boolean: 'tinyint(1)', interval: 'int', 'text[]': 'json', 'jsonb[]': 'json', xid8: 'bigint', 'bit(8)': 'bit(8)',
  date: 'date', 'double precision': 'double', inet: 'varchar(45)',
}; // prettier-ignore

const ticked = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Statements that make the table, its schema first. Types of the form `enum:name` become an enumeration of that name. */
export function statementsFor(fact: TableFact, engine: EngineKey): string[] {
  const columns = columnsOf(fact);
  if (engine === 'mysql') {
    const lines = columns.map(
      ({ name, type }, index) => `${ticked(name)} ${mysqlType(type, index === 0)}${index === 0 ? ' NOT NULL PRIMARY KEY' : ''}`,
    );
    return [
      `CREATE DATABASE IF NOT EXISTS ${ticked(fact.schema)}`,
      `CREATE TABLE ${ticked(fact.schema)}.${ticked(fact.table)} (${lines.join(', ')})`,
    ];
  }
  const enums = columns.flatMap(({ type }) => (type.startsWith('enum:') ? [type.slice(5).replaceAll(' ', '_')] : []));
  const lines = columns.map(({ name, type }, index) => {
    const own = type.startsWith('enum:') ? `${quoted(fact.schema)}.${quoted(type.slice(5).replaceAll(' ', '_'))}` : type;
    return `${quoted(name)} ${own}${index === 0 ? ' PRIMARY KEY' : ''}`;
  });
  return [
    `CREATE SCHEMA IF NOT EXISTS ${quoted(fact.schema)}`,
    ...enums.map(
      (name) =>
        `DO $$ BEGIN CREATE TYPE ${quoted(fact.schema)}.${quoted(name)} AS ENUM ('available', 'completed'); EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
    ),
    `CREATE TABLE ${quoted(fact.schema)}.${quoted(fact.table)} (${lines.join(', ')})`,
  ];
}

function mysqlType(type: string, key: boolean): string {
  if (type.startsWith('enum:')) return `enum('available','completed')`;
  const own = MYSQL_TYPES[type] ?? type;
  return key && /^(longtext|varchar\((1000|512)\)|varchar$)/.test(own) ? 'varchar(191)' : own === 'varchar' ? 'varchar(255)' : own;
}

const KINDS: [RegExp, CatalogueColumn['kind']][] = [
  [/^(text|varchar|char|enum)(?!.*\[\])/, 'text'],
  [/^(bigint|int|smallint)/, 'integer'],
  [/^(numeric|decimal|double)/, 'decimal'],
  [/^boolean/, 'boolean'],
  [/^uuid/, 'uuid'],
  [/^jsonb?$/, 'json'],
  [/^bytea/, 'binary'],
  [/^timestamptz/, 'instant'],
  [/^(timestamp|date)/, 'wall_clock'],
];

/** The table as the catalogue would describe it, for tests that need no server. */
export function catalogueTable(fact: TableFact): CatalogueTable {
  return {
    name: { schema: fact.schema, table: fact.table },
    comment: null,
    estimatedRows: null,
    readable: true,
    rowSecurity: false,
    columns: columnsOf(fact).map(({ name, type }) => ({
      name,
      type: type.startsWith('enum:') ? type.slice(5).replaceAll(' ', '_') : type,
      kind: KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? 'other',
      nullable: true,
      generated: false,
      labels: type.startsWith('enum:') ? ['available', 'completed'] : null,
    })),
  };
}
