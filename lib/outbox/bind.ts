import type { Database } from '@/lib/database/database';
import type { Db, TableDescription } from '@/lib/database/description';
import { formatPath } from '@/lib/shared/lists/document-path';
import { Problem } from '@/lib/shared/problems';
import { bindShape, type BoundShape, type FoundTables } from '@/lib/shape/bind/bound-shape';
import { capturedOf, filledName, findTable } from '@/lib/shape/bind/find-table';
import type { MappingProblem } from '@/lib/shape/bind/table';
import { implausibleTimes, refusedReadings, sharedIds } from './mapping/row-checks';
import { archiveTable, recordsSight } from './companions';
import { maskProblems } from './masking/hidden-fields';
import { tableText } from '@/lib/shape/schema/names';
import { livePlaces, quotedName, type FoundOutbox, type Outbox, type OutboxSettings } from './outbox';
import { judgeProof, NO_PROOF, type KnownProof } from './proof/proven';
import { configuredElsewhere } from './rows/touched';
import { operatorSaysItLacks, readOnlyReason } from './rights/writability';

/**
 * Binds a configured outbox to its tables in one read transaction. Throws Problem `not_found` if its table is missing, `invalid` with every
 * problem by path. `known`: its proof in the store, null if the store did not answer; `others`: the other outboxes of the database.
 */
export async function bindOutbox(
  settings: OutboxSettings,
  database: Database,
  known: KnownProof | null = NO_PROOF,
  others: readonly OutboxSettings[] = [],
): Promise<Outbox> {
  const { outbox, reason } = await database.read(async (db) => {
    const looked = await lookAt(settings, database, db);
    if ('missing' in looked) throw new Problem('not_found', `Outbox ${settings.id}: ${looked.missing.message} in database ${database.id}`);
    const { problems, companions, cursor, ...bound } = looked.bound;
    if (problems.length > 0) throw misfit(settings, problems);
    const { fragments } = database.engine;
    const scope = { fragments, columns: bound.main.description.columns, timeZone: bound.parameters.timeZone, companions, cursor };
    const tables = livePlaces(bound).map(({ table }) => table);
    const [mainRules, deadRules] = await database.engine.tableRules(db, tables);
    if (mainRules === undefined) throw new Error('a table without rules');
    const outbox: FoundOutbox = {
      id: settings.id,
      settings,
      database,
      ...bound,
      records: await recordsSight(database.engine, db),
      elsewhere: others.length === 0 ? [] : configuredElsewhere([...tables, ...(await database.engine.relatedTables(db, tables))], others),
      scope,
      channel: settings.parameters.channel ?? looked.main.notifies[0] ?? null,
      rules: { main: mainRules, dead: deadRules ?? null },
    };
    return { outbox, reason: await readOnlyReason(outbox, db) };
  });
  const { refused, why } = judgeProof(outbox, known);
  // Only where the reader cannot look up another role's rights. Its connection is released first: two held at once can deadlock.
  const lacks = reason === null && !database.engine.features.tellsRights ? await operatorSaysItLacks(outbox) : [];
  return { ...outbox, refused, whyReadOnly: reason ?? (lacks.length > 0 ? 'no_grant' : why) };
}

/** All problems of a mapping: by the catalogue, then (if none) by trial statements and a few rows. [] if it is correct. */
export async function mappingProblems(settings: OutboxSettings, database: Database): Promise<MappingProblem[]> {
  const problems = await database.read(async (db) => {
    const looked = await lookAt(settings, database, db);
    if ('missing' in looked) return [looked.missing];
    const { main, bound } = looked;
    const tables = [{ path: ['table'], description: main }];
    if (bound.dead !== null) tables.push({ path: ['shape', 'dead', 'table'], description: bound.dead.description });
    for (const { name, description } of bound.companions.values())
      tables.push({ path: ['shape', 'companions', name, 'table'], description });
    const unreadable = tables
      .filter(({ description }) => !description.privileges.select)
      .map(({ path, description }) => ({ path, message: notReadable(database, description), absent: true as const }));
    return [...unreadable, ...bound.problems, ...maskProblems(settings)];
  });
  if (problems.length > 0) return problems;
  const outbox = await bindOutbox(settings, database);
  const refused = await refusedReadings(outbox);
  return settings.inline ? [...refused, ...(await sharedIds(outbox)), ...(await implausibleTimes(outbox))] : refused;
}

const notReadable = ({ engine, roles: { reader } }: Database, { name }: TableDescription): string =>
  `role ${reader} may not read it; its owner can say: GRANT SELECT ON ${quotedName(engine, name)} TO ${engine.quote.identifier(reader)}`;

async function lookAt(
  settings: OutboxSettings,
  { engine }: Database,
  db: Db,
): Promise<{ missing: MappingProblem } | { main: TableDescription; bound: BoundShape }> {
  const { shape } = settings;
  const found = await findTable(db, engine, settings.table, null, ['table']);
  if ('problem' in found) return { missing: found.problem };
  const main = found.description;
  const problems: MappingProblem[] = [];
  const captured = capturedOf(shape, main.name.table, settings.inline);
  let dead: TableDescription | null = null;
  if (shape.dead !== undefined) {
    const given = settings.parameters.deadTable;
    const path = given === undefined ? ['shape', 'dead', 'table'] : ['parameters', 'deadTable'];
    const other = await findTable(db, engine, filledName(given ?? shape.dead.table, captured), main.name.schema, path);
    if ('description' in other) dead = other.description;
    // A built-in shape only suggests this table: without it there are no dead letters. One that the configuration names must exist.
    else if (settings.inline || given !== undefined) problems.push(other.problem);
  }
  if (shape.dead === undefined && settings.inline && settings.parameters.deadTable !== undefined)
    problems.push({ path: ['parameters', 'deadTable'], message: 'the mapping has no dead-letter table: write it under shape.dead' });
  const companions = new Map<string, TableDescription | null>();
  for (const [name, companion] of Object.entries(shape.companions)) {
    const path = ['shape', 'companions', name, 'table'];
    const other = await findTable(db, engine, filledName(companion.table, captured), main.name.schema, path);
    companions.set(name, 'description' in other ? other.description : null);
  }
  const tables: FoundTables = { main, dead, companions, archive: await engine.describe(db, archiveTable(engine, settings.id)), captured };
  const bound = bindShape(settings, tables);
  return { main, bound: { ...bound, problems: [...problems, ...bound.problems] } };
}

function misfit(settings: OutboxSettings, problems: MappingProblem[]): Problem {
  const lines = problems.map(({ path, message }) => `${formatPath(path)}: ${message}`);
  const which = settings.inline ? 'its mapping' : `the shape ${settings.shape.key}`;
  const fields: Record<string, string> = {};
  for (const { path, message } of problems) fields[formatPath(path)] = [fields[formatPath(path)] ?? [], message].flat().join('; ');
  const what = `Table ${tableText(settings.table)} of outbox ${settings.id} does not fit ${which}: ${lines.join('; ')}`;
  return new Problem('invalid', what, { fields });
}
