import { sql } from 'kysely';
import { openDatabase, type Database } from '@/lib/database/database';
import { DatabaseFailure } from '@/lib/database/failure';
import { bindOutbox } from '@/lib/outbox/bind';
import type { Outbox, OutboxSettings } from '@/lib/outbox/outbox';
import type { EngineKey } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { mysqlInstallation } from './mysql';
import { postgresInstallation } from './postgres';
import type { InstallStatement } from './tables';

const INSTALLATIONS: Record<EngineKey, (outbox: Outbox, url: string | undefined) => InstallStatement[] | Promise<InstallStatement[]>> = {
  postgres: postgresInstallation,
  mysql: mysqlInstallation,
};

/** The outbox before its reader may see it: bound through the given login where the reader cannot. Throws as `bindOutbox` does. */
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

/** What an outbox needs before it can be changed: records, archive, exactly the grants its operations use. Throws DatabaseFailure. */
export const installStatements = async (outbox: Outbox, url?: string): Promise<InstallStatement[]> =>
  INSTALLATIONS[outbox.database.engine.key](outbox, url);

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

/** Runs the statements with a login that owns the table. Answers the optional ones that it was refused. */
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
