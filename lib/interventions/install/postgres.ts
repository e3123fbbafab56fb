import type { TableName } from '@/lib/database/description';
import { ARCHIVE_COLUMNS, COMPANION_SCHEMA, archiveTable, recordsIndexStatement, recordTables } from '@/lib/outbox/companions';
import type { Outbox } from '@/lib/outbox/outbox';
import { calledFunctions, tablesRead } from '@/lib/outbox/rights/rights';
import { operatorGrants, type InstallStatement } from './statement';

/** Key of the advisory lock under which two installations into one database take turns. */
const INSTALL_LOCK = 7_205_759_403_792;

/** DDL and grants for PostgreSQL. */
export function postgresInstallation(outbox: Outbox): InstallStatement[] {
  const { engine } = outbox.database;
  const { identifier } = engine.quote;
  const { headers, events } = recordTables(engine);
  const name = (table: TableName): string => `${identifier(table.schema ?? 'public')}.${identifier(table.table)}`;
  return [
    { why: 'Two installations at once take turns', sql: `SELECT pg_advisory_xact_lock(${INSTALL_LOCK})` },
    {
      why: 'Everything the console keeps in this database lives in one schema',
      sql: `CREATE SCHEMA IF NOT EXISTS ${identifier(COMPANION_SCHEMA)}`,
    },
    ...records(name(headers), name(events)),
    ...(outbox.records === 'countable'
      ? []
      : [
          {
            why: 'How often an event was operated on is counted by it, whenever one is shown and before one is changed',
            sql: recordsIndexStatement(engine, 'CREATE INDEX IF NOT EXISTS'),
          },
        ]),
    ...archive(outbox, name(archiveTable(engine, outbox.id))),
    ...grants(outbox, name),
  ];
}

function records(headers: string, events: string): InstallStatement[] {
  return [
    {
      why: 'One row per intervention, written in the transaction of the change',
      sql: `CREATE TABLE IF NOT EXISTS ${headers} (
  id uuid PRIMARY KEY,
  outbox text NOT NULL,
  actor_id text NOT NULL,
  actor_name text NOT NULL,
  actor_role text NOT NULL,
  key text NOT NULL,
  request_hash text NOT NULL,
  operation text NOT NULL,
  reason text NOT NULL,
  outcome text CHECK (outcome IN ('applied', 'partly', 'none')),
  at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (outbox, actor_id, key)
)`,
    },
    {
      why: 'The console reads new records by time',
      sql: `CREATE INDEX IF NOT EXISTS intervention_outbox_at ON ${headers} (outbox, at, id)`,
    },
    {
      why: 'One row per event of an intervention: what it was before and after, or why it was skipped',
      sql: `CREATE TABLE IF NOT EXISTS ${events} (
  intervention_id uuid NOT NULL REFERENCES ${headers} (id),
  position int NOT NULL,
  event_id text NOT NULL,
  event_type text,
  aggregate_id text,
  code text,
  detail jsonb,
  before jsonb,
  after jsonb,
  PRIMARY KEY (intervention_id, position)
)`,
    },
    {
      why: 'A record may be closed once, in its own transaction, and never be rewritten',
      sql: `CREATE OR REPLACE FUNCTION outbox_console.refuse_rewriting() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.outcome IS NOT NULL THEN
    RAISE EXCEPTION 'an intervention record is never changed';
  END IF;
  RETURN NEW;
END $$`,
    },
    {
      why: 'The trigger that holds the line',
      sql: `CREATE OR REPLACE TRIGGER refuse_rewriting BEFORE UPDATE OR DELETE ON ${headers} FOR EACH ROW EXECUTE FUNCTION outbox_console.refuse_rewriting()`,
    },
    {
      why: 'Nor is a line of it, and one that is closed gets no more lines',
      sql: `CREATE OR REPLACE FUNCTION outbox_console.refuse_rewriting_lines() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NOT EXISTS (SELECT FROM ${headers} AS header WHERE header.id = NEW.intervention_id AND header.outcome IS NOT NULL) THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'an intervention record is never changed';
END $$`,
    },
    {
      why: 'The trigger that holds it there',
      sql: `CREATE OR REPLACE TRIGGER refuse_rewriting BEFORE INSERT OR UPDATE OR DELETE ON ${events} FOR EACH ROW EXECUTE FUNCTION outbox_console.refuse_rewriting_lines()`,
    },
  ];
}

function archive(outbox: Outbox, archiveName: string): InstallStatement[] {
  const { identifier } = outbox.database.engine.quote;
  const key = outbox.main.id.map((column) => identifier(column.name)).join(', ');
  const types = new Map<string, string>();
  for (const place of [outbox.dead, outbox.main]) {
    for (const column of place?.description.columns.values() ?? []) if (!column.generated) types.set(column.name, column.type);
  }
  const own = `${ARCHIVE_COLUMNS.at} timestamptz NOT NULL,
  ${ARCHIVE_COLUMNS.by} text NOT NULL,
  ${ARCHIVE_COLUMNS.intervention} uuid NOT NULL,
  ${ARCHIVE_COLUMNS.reason} text NOT NULL,
  ${ARCHIVE_COLUMNS.fromState} text NOT NULL,
  ${ARCHIVE_COLUMNS.fromTable} text NOT NULL`;
  const columns = [...types].map(([name, type]) => `  ${identifier(name)} ${type}`);
  return [
    {
      why: `The archive of ${outbox.id}: the outbox's own columns, and when, by whom and from where`,
      sql: `CREATE TABLE IF NOT EXISTS ${archiveName} (\n${columns.join(',\n')},\n  ${own},\n  PRIMARY KEY (${key})\n)`,
    },
    ...[...types]
      .filter(([name]) => outbox.archive !== null && !outbox.archive.description.columns.has(name))
      .map(([name, type]) => ({
        why: `Column ${name}, which the outbox gained since`,
        sql: `ALTER TABLE ${archiveName} ADD COLUMN IF NOT EXISTS ${identifier(name)} ${type}`,
      })),
    {
      why: 'Archived events are listed by time',
      sql: `CREATE INDEX IF NOT EXISTS ${identifier(`${archiveTable(outbox.database.engine, outbox.id).table}_at`.slice(0, 63))} ON ${archiveName} (${ARCHIVE_COLUMNS.at})`,
    },
  ];
}

function grants(outbox: Outbox, name: (table: TableName) => string): InstallStatement[] {
  const { identifier, literal } = outbox.database.engine.quote;
  const { reader, operator } = outbox.database.roles;
  const roles = [...new Set([reader, ...(operator === null ? [] : [operator])])];
  const read = tablesRead(outbox);
  const tables = read.map(name);
  const { headers, events } = recordTables(outbox.database.engine);
  const companions = [name(headers), name(events), name(archiveTable(outbox.database.engine, outbox.id))];
  const schemas = [...new Set([COMPANION_SCHEMA, ...read.map(({ schema }) => schema ?? 'public')])];
  const statements: InstallStatement[] = roles.map((role) => ({
    why: `Role ${role}: created without a password if it is missing; set one with \\password`,
    sql: `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${literal(role)}) THEN CREATE ROLE ${identifier(role)} LOGIN CONNECTION LIMIT 20; END IF; END $$`,
  }));
  const both = roles.map(identifier).join(', ');
  statements.push({
    why: 'Reading and every operation: both roles see the schemas',
    sql: `GRANT USAGE ON SCHEMA ${schemas.map(identifier).join(', ')} TO ${both}`,
  });
  statements.push({
    why: 'Reading and every operation: both roles read the outbox, what stands beside it, its archive and the records',
    sql: `GRANT SELECT ON ${[...tables, ...companions].join(', ')} TO ${both}`,
  });
  if (operator === null) return statements;
  const writer = identifier(operator);
  statements.push({
    why: 'Every operation adds its record and closes it, nothing more',
    sql: `GRANT INSERT ON ${name(headers)}, ${name(events)} TO ${writer}`,
  });
  statements.push({
    why: 'Every operation closes its record with its outcome',
    sql: `GRANT UPDATE (outcome) ON ${name(headers)} TO ${writer}`,
  });
  for (const { why, rights, table } of operatorGrants(outbox)) {
    statements.push({ why, sql: `GRANT ${rights} ON ${name(table)} TO ${writer}` });
  }
  return [...statements, ...functionGrants(outbox, operator)];
}

/** Functions have no names of their own, only signatures: each one of the name is granted. */
function functionGrants(outbox: Outbox, operator: string): InstallStatement[] {
  const { identifier, literal } = outbox.database.engine.quote;
  return calledFunctions(outbox).map(({ schema, name, operations }) => ({
    why: `EXECUTE for ${operations.join(' and ')}, which ${operations.length === 1 ? 'lets' : 'let'} ${schema}.${name} do the work; it does so with the operator's rights unless it is SECURITY DEFINER`,
    sql: `DO $$ DECLARE called regprocedure; BEGIN
  EXECUTE 'GRANT USAGE ON SCHEMA ' || ${literal(identifier(schema))} || ' TO ' || ${literal(identifier(operator))};
  FOR called IN SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = ${literal(schema)} AND p.proname = ${literal(name)} LOOP
    EXECUTE 'GRANT EXECUTE ON ROUTINE ' || called || ' TO ' || ${literal(identifier(operator))};
  END LOOP;
END $$`,
  }));
}
