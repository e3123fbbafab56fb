import type { TableName } from '@/lib/database/description';
import { archiveTable, recordTables } from '@/lib/outbox/companions';
import { quotedName, type Outbox } from '@/lib/outbox/outbox';
import { calledFunctions, tablesRead } from '@/lib/outbox/rights/rights';
import { archiveStatements, operatorGrants, recordStatements, type Ddl, type InstallStatement } from './tables';

/** Key of the advisory lock under which installations into one database run one after the other. */
const INSTALL_LOCK = 7_205_759_403_792;

const DDL: Ddl = { now: 'now()', options: '', addColumn: 'ADD COLUMN IF NOT EXISTS', indexesInside: false };

export function postgresInstallation(outbox: Outbox): InstallStatement[] {
  const { engine } = outbox.database;
  const { headers, events } = recordTables(engine);
  const name = (table: TableName): string => quotedName(engine, table);
  return [
    { why: 'Two installations at once take turns', sql: `SELECT pg_advisory_xact_lock(${INSTALL_LOCK})` },
    {
      why: 'Everything the console keeps in this database lives in one schema',
      sql: `CREATE SCHEMA IF NOT EXISTS ${engine.quote.identifier(schemaOf(headers))}`,
    },
    ...recordStatements(engine, DDL),
    ...guards(name(headers), name(events)),
    ...archiveStatements(outbox, DDL),
    ...grants(outbox, name),
  ];
}

const schemaOf = ({ schema }: TableName): string => schema ?? 'public';

function guards(headers: string, events: string): InstallStatement[] {
  return [
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
    IF NOT EXISTS (SELECT FROM added WHERE (SELECT header.outcome FROM ${headers} AS header WHERE header.id = added.intervention_id) IS NOT NULL) THEN
      RETURN NULL;
    END IF;
  END IF;
  RAISE EXCEPTION 'an intervention record is never changed';
END $$`,
    },
    {
      why: 'The trigger that holds it there',
      sql: `CREATE OR REPLACE TRIGGER refuse_rewriting BEFORE UPDATE OR DELETE ON ${events} FOR EACH ROW EXECUTE FUNCTION outbox_console.refuse_rewriting_lines()`,
    },
    {
      why: 'And the one that looks at added lines, all of a statement at once',
      sql: `CREATE OR REPLACE TRIGGER refuse_adding AFTER INSERT ON ${events} REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION outbox_console.refuse_rewriting_lines()`,
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
  const schemas = [...new Set([headers, ...read].map(schemaOf))];
  const both = roles.map(identifier).join(', ');
  const reading = [
    ...roles.map((role) => ({
      why: `Role ${role}: created without a password if it is missing; set one with \\password`,
      sql: `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${literal(role)}) THEN CREATE ROLE ${identifier(role)} LOGIN CONNECTION LIMIT 20; END IF; END $$`,
    })),
    {
      why: 'Reading and every operation: both roles see the schemas',
      sql: `GRANT USAGE ON SCHEMA ${schemas.map(identifier).join(', ')} TO ${both}`,
    },
    {
      why: 'Reading and every operation: both roles read the outbox, what stands beside it, its archive and the records',
      sql: `GRANT SELECT ON ${[...tables, ...companions].join(', ')} TO ${both}`,
    },
  ];
  if (operator === null) return reading;
  const writer = identifier(operator);
  return [
    ...reading,
    {
      why: 'Every operation adds its record and closes it, nothing more',
      sql: `GRANT INSERT ON ${name(headers)}, ${name(events)} TO ${writer}`,
    },
    { why: 'Every operation closes its record with its outcome', sql: `GRANT UPDATE (outcome) ON ${name(headers)} TO ${writer}` },
    ...operatorGrants(outbox).map(({ why, rights, table }) => ({ why, sql: `GRANT ${rights} ON ${name(table)} TO ${writer}` })),
    ...functionGrants(outbox, operator),
  ];
}

/** A name may have several functions, one per signature: each gets the grant. */
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
