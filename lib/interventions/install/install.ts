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

/** Binds an outbox before its reader has rights: through the given login if the reader fails. Throws as `bindOutbox` does. */
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

/** What an outbox needs before it can be changed: records, an archive, exactly the grants its operations use. Throws DatabaseFailure. */
export const installStatements = async (outbox: Outbox, url?: string): Promise<InstallStatement[]> =>
  INSTALLATIONS[outbox.database.engine.key](outbox, url);

/** `installStatements` as a script for a person to read and run; one transaction if the engine can undo schema changes. */
export async function installScript(outbox: Outbox, url?: string): Promise<string> {
  // The comments contain names, and a name may contain a line break.
  const statements = (await installStatements(outbox, url)).map(
    ({ why, sql: text }) => `-- ${why.replace(/\p{Cc}+/gu, ' ')}\n${terminated(outbox, text)}`,
  );
  const script = statements.join('\n\n');
  return outbox.database.engine.features.transactionalDdl ? `BEGIN;\n\n${script}\n\nCOMMIT;\n` : `${script}\n`;
}

/** MySQL's command line ends a statement at the first semicolon, even inside a trigger, unless given another delimiter. */
const terminated = ({ database }: Outbox, text: string): string =>
  database.engine.features.transactionalDdl || !text.includes(';') ? `${text};` : `DELIMITER //\n${text}//\nDELIMITER ;`;

/** Runs the statements with a login that owns the table. Returns the optional ones that were refused. */
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
