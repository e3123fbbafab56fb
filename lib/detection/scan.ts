/** The door of the room: which outboxes a database holds, and one of them closely. Reads only, on the reader's connection. */
import type { CatalogueTable } from '@/lib/database/catalogue';
import { catalogueOf } from '@/lib/database/catalogues';
import type { Config } from '@/lib/config/config';
import type { Database } from '@/lib/database/database';
import type { Engine } from '@/lib/database/engine';
import { tableParts } from '@/lib/shape/schema/names';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { Problem } from '@/lib/shared/problems';
import type { Detection, Examination } from '@/lib/shared/detection';
import { findCandidates, type Found } from './candidates';
import { examine, type ExamineOptions } from './examine';
import { signatureOf } from './signatures';

/** Tables looked at in one scan. */
const MOST_TABLES = 20_000;
/** Thousands of tables take a busy server seconds; below what the client waits for an answer. */
const CATALOGUE_MS = 7_500;

export interface ScanOptions {
  /** Only tables of this schema. */
  schema?: string;
  /** Only candidates for this built-in shape. */
  shape?: string;
  /** Ids of the outboxes that the configuration has in this database, by table as `schema.table`. */
  configured?: ReadonlyMap<string, string>;
}

interface Scan {
  tables: CatalogueTable[];
  found: Found[];
  cut: boolean;
}

/** True for records and archives of the console: in a schema of their own, or called so where a schema is a database. */
function isOwn({ companions }: Engine, { schema, table }: CatalogueTable['name']): boolean {
  return companions.schema === null ? table.startsWith(companions.prefix) : schema === companions.schema;
}

async function scan(database: Database, { schema, shape, configured }: ScanOptions): Promise<Scan> {
  const reader = catalogueOf(database.engine);
  const read = await database.read((db) => reader.tables(db, MOST_TABLES + 1, schema ?? null), { statementMs: CATALOGUE_MS });
  const tables = read.slice(0, MOST_TABLES).filter(({ name }) => !isOwn(database.engine, name));
  const found = findCandidates(tables, {
    engine: database.engine.key,
    signatures: SHAPES.flatMap((one) => signatureOf(one) ?? []),
    configured: configured ?? new Map(),
    defaultSchema: database.engine.defaultSchema,
  });
  return {
    tables,
    cut: read.length > MOST_TABLES,
    found: shape === undefined ? found : found.filter(({ candidate }) => candidate.shape === shape),
  };
}

/** Ids of the outboxes that the configuration has in a database, by their table. A table without a schema is known by every default. */
export function configuredTables(config: Pick<Config, 'outboxes'>, database: string): Map<string, string> {
  return new Map(
    config.outboxes
      .filter((outbox) => outbox.database === database)
      .map(({ id, table }) => {
        const { schema, table: name } = tableParts(table);
        return [schema === null ? name : `${schema}.${name}`, id];
      }),
  );
}

/** The candidates of a database, by one statement on its catalogue. Throws DatabaseFailure. */
export async function detectOutboxes(database: Database, options: ScanOptions = {}): Promise<Detection> {
  return reportOf(database, await scan(database, options));
}

/** The candidates, and each of them looked at closely, one after the other. Throws DatabaseFailure for the scan itself. */
export async function detectAndExamine(
  database: Database,
  options: ScanOptions,
  each: Omit<ExamineOptions, 'confirmed'>,
): Promise<{ detection: Detection; examinations: Examination[] }> {
  const scanned = await scan(database, options);
  const examinations: Examination[] = [];
  const taken = [...each.taken];
  for (const found of scanned.found) {
    const examined = await examine(database, found, near(scanned, found), { ...each, taken, confirmed: {} });
    taken.push(/^ {2}- id: (.+)$/m.exec(examined.yaml)?.[1] ?? '');
    examinations.push(examined);
  }
  return { detection: { ...reportOf(database, scanned), candidates: examinations.map(({ candidate }) => candidate) }, examinations };
}

/** One candidate looked at closely. Throws Problem `not_found` when the table is none, DatabaseFailure for the scan. */
export async function examineTable(
  database: Database,
  table: { schema: string; table: string },
  options: ScanOptions,
  how: ExamineOptions,
): Promise<Examination> {
  const scanned = await scan(database, { ...options, schema: table.schema });
  const found = scanned.found.find(({ candidate }) => candidate.name.schema === table.schema && candidate.name.table === table.table);
  if (found === undefined)
    throw new Problem('not_found', `No outbox was found in ${table.schema}.${table.table}: it may be gone, or have changed`);
  return examine(database, found, near(scanned, found), how);
}

const near = ({ tables }: Scan, { table }: Found): CatalogueTable[] => tables.filter(({ name }) => name.schema === table.name.schema);

function reportOf(database: Database, { tables, cut, found }: Scan): Detection {
  return {
    database: database.id,
    engine: database.engine.key,
    tables: tables.length,
    cut,
    candidates: found.map(({ candidate }) => candidate),
  };
}
