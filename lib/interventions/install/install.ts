import { sql } from 'kysely';
import { openDatabase, type Database } from '@/lib/database/database';
import { DatabaseFailure } from '@/lib/database/failure';
import { bindOutbox } from '@/lib/outbox/bind';
import type { Outbox, OutboxSettings } from '@/lib/outbox/outbox';
import type { EngineKey } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { mysqlInstallation } from './mysql';
import { postgresInstallation } from './postgres';
import type { InstallStatement } from './statement';

const INSTALLATIONS: Record<EngineKey, (outbox: Outbox, url: string | undefined) => InstallStatement[] | Promise<InstallStatement[]>> = {
  postgres: postgresInstallation,
  mysql: mysqlInstallation,
};

/**
 * The outbox as an installation needs it, before its reader may see it: looked at through the given login where the
 * reader cannot. Throws as `bindOutbox` does.
 */
export async function bindForInstall(settings: OutboxSettings, database: Database, url: string | undefined): Promise<Outbox> {
  try {
    return await bindOutbox(settings, database);
  } catch (error) {
    if (url === undefined || !(error instanceof Problem || error instanceof DatabaseFailure)) throw error;
    const owner = openDatabase({ id: database.id, url });
    try {
      return { ...(await bindOutbox(settings, { ...database, read: owner.read })), database };
    } finally {
      await owner.close();
    }
  }
}

/**
 * What an outbox needs in its own database before it can be changed: the record tables, its archive, and exactly the
 * grants its operations use. Running it again changes nothing that is in place already. With the login that will run it, what only
 * an owner sees to be in place is left out, or put right. Throws DatabaseFailure when a database that has to be asked does not answer.
 */
export async function installStatements(outbox: Outbox, url?: string): Promise<InstallStatement[]> {
  return INSTALLATIONS[outbox.database.engine.key](outbox, url);
}

/** `installStatements` as a script for a person to read and run; one transaction where the engine can undo schema changes. */
export async function installScript(outbox: Outbox, url?: string): Promise<string> {
  // Names stand in the comments too, and a name may hold the end of a line.
  const statements = (await installStatements(outbox, url)).map(
    ({ why, sql: text }) => `-- ${why.replace(/\p{Cc}+/gu, ' ')}\n${terminated(outbox, text)}`,
  );
  const script = statements.join('\n\n');
  return outbox.database.engine.features.transactionalDdl ? `BEGIN;\n\n${script}\n\nCOMMIT;\n` : `${script}\n`;
}

/** The command line of MySQL ends a statement at the first semicolon, a trigger's own ones included, unless told another end. */
function terminated(outbox: Outbox, text: string): string {
  if (outbox.database.engine.features.transactionalDdl || !text.includes(';')) return `${text};`;
  return `DELIMITER //\n${text}//\nDELIMITER ;`;
}

/**
 * Runs the statements, in one transaction where the engine has that, with a login that must own the outbox's table or be a
 * superuser. Answers the optional ones that this login was refused.
 */
export async function applyInstall(outbox: Outbox, url: string): Promise<InstallStatement[]> {
  const statements = await installStatements(outbox, url);
  const refused: InstallStatement[] = [];
  const database = openDatabase({ id: outbox.database.id, url, operatorUrl: url });
  try {
    await database.write?.(
      async (db) => {
        for (const statement of statements) {
          const done = sql.raw(statement.sql).execute(db);
          await (statement.optional === true ? done.catch(() => refused.push(statement)) : done);
        }
      },
      { statementMs: 7_000, lockMs: 5_000 },
    );
    return refused;
  } finally {
    await database.close();
  }
}
