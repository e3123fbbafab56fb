import type { Database } from '@/lib/database/database';
import type { TableDescription, TableName } from '@/lib/database/engine';
import { readTableRules } from '@/lib/database/table-rules';
import { Problem } from '@/lib/shared/problems';
import { describeCapabilities } from './capabilities';
import { archiveTable } from './companions';
import type { AmountSource, Outbox, OutboxSettings, Parameters, Place } from './outbox';
import { pathSteps } from './paths';
import { proofFacts } from './proof-facts';
import { judgeProof, type KnownProof } from './proven';
import { readOnlyReason } from './writability';
import { idColumns, type Source } from './language/source';
import { tableParts, tableText } from './language/names';
import { COLUMN_ROLES, type Condition, type Shape } from './shape';

const DEFAULT_STUCK_AFTER_SECONDS = 300;
/** Nobody has proven anything. */
const UNPROVEN: KnownProof = { switched: null, proven: null };

/**
 * Binds a configured outbox to its tables: one transaction of catalogue reads on the reader's connection.
 * Throws Problem `not_found` when the table is not there and `invalid` when it lacks columns the shape needs;
 * anything that only stands in the way of changes makes the outbox read-only instead. `known` is what the store knows of its
 * proof: null when it did not answer.
 */
export async function bindOutbox(settings: OutboxSettings, database: Database, known: KnownProof | null = UNPROVEN): Promise<Outbox> {
  return database.read(async (db) => {
    const describe = (name: TableName): Promise<TableDescription | null> => database.engine.describe(db, name);
    const mainTable = await describe(tableParts(settings.table));
    if (mainTable === null)
      throw new Problem(
        'not_found',
        `Table ${tableText(settings.table)} does not exist in database ${database.id}, or the reader's role may not see it`,
      );
    const { shape } = settings;
    const main = bindPlace('main', mainTable, shape.columns);
    refuseMissing(settings, main, [...required(shape.columns), ...shape.states.flatMap((rule) => columnsOf(rule.when))]);

    let dead: Place | null = null;
    if (shape.dead !== undefined) {
      const name = tableParts(settings.parameters.deadTable ?? shape.dead.table);
      const table = await describe({ schema: name.schema ?? mainTable.name.schema, table: name.table });
      // The design of the origin only names this table: without it nothing is dead here, and that is said.
      if (table !== null) dead = bindPlace('dead', table, { ...shape.columns, ...shape.dead.columns });
    }
    const archiveDescription = await describe(archiveTable(database.engine, settings.id));
    const archive =
      archiveDescription === null ? null : bindPlace('archive', archiveDescription, { ...shape.columns, ...shape.dead?.columns });
    const parameters = mergeParameters(shape, settings);
    const places = dead === null ? [main] : [main, dead];
    const rules = await readTableRules(
      database.engine.key,
      db,
      places.map(({ table }) => table),
    );
    const bound = {
      id: settings.id,
      settings,
      database,
      shape,
      parameters,
      main,
      dead,
      archive,
      amount: amountSource(settings),
      channel: settings.parameters.channel ?? mainTable.notifies[0] ?? null,
      rules: rules?.[0] === undefined ? null : { main: rules[0], dead: rules[1] ?? null },
    };
    const proof = judgeProof(bound, proofFacts(bound), known);
    const whyReadOnly = await readOnlyReason({ ...bound, proof }, db);
    return { ...bound, proof, capabilities: describeCapabilities(bound), writable: whyReadOnly === null, whyReadOnly };
  });
}

function bindPlace(key: Place['key'], description: TableDescription, columns: Shape['columns']): Place {
  const roles: Place['roles'] = {};
  for (const role of COLUMN_ROLES) {
    const source = role === 'id' ? columns.id && idColumns(columns.id)[0] : columns[role];
    if (source === undefined) continue;
    const { column: name, path } = normalise(source);
    const column = description.columns.get(name);
    if (column !== undefined) roles[role] = { column, path };
  }
  return { key, table: description.name, description, roles };
}

function normalise(source: Source): { column: string; path: string[]; optional: boolean } {
  if (typeof source === 'string') return { column: source, path: [], optional: false };
  if (!('column' in source)) throw new Error(`columns cannot be ${Object.keys(source).join(', ')} yet`);
  return { column: source.column, path: source.path ?? [], optional: source.optional ?? false };
}

function required(columns: Shape['columns']): string[] {
  const { id, ...others } = columns;
  return [...(id === undefined ? [] : idColumns(id)), ...Object.values(others)].flatMap((source) => {
    const { column, optional } = normalise(source);
    return optional ? [] : [column];
  });
}

function columnsOf(condition: Condition): string[] {
  if ('all' in condition) return condition.all.flatMap(columnsOf);
  if ('any' in condition) return condition.any.flatMap(columnsOf);
  if ('not' in condition) return columnsOf(condition.not);
  return 'column' in condition ? [condition.column] : [];
}

function refuseMissing(settings: OutboxSettings, place: Place, names: string[]): void {
  const missing = [...new Set(names)].filter((name) => !place.description.columns.has(name));
  if (missing.length > 0) {
    throw new Problem(
      'invalid',
      `Table ${tableText(settings.table)} of outbox ${settings.id} has no column ${missing.join(', ')}, which the shape ${settings.shape.key} needs: choose another shape or map the columns`,
    );
  }
}

function mergeParameters(shape: Shape, settings: OutboxSettings): Parameters {
  return {
    maxAttempts: settings.parameters.maxAttempts ?? shape.parameters.maxAttempts ?? null,
    stuckAfterSeconds: settings.parameters.stuckAfterSeconds ?? shape.parameters.stuckAfter ?? DEFAULT_STUCK_AFTER_SECONDS,
    timeZone: settings.parameters.timeZone ?? shape.parameters.timeZone,
  };
}

function amountSource(settings: OutboxSettings): AmountSource | null {
  if (settings.amount === null) return null;
  const { value, currency } = settings.amount;
  return { value: pathSteps(value), currency: currency === undefined ? null : pathSteps(currency) };
}
