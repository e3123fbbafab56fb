import { sql } from 'kysely';
import { openDatabase } from '@/lib/database/database';
import type { Outbox } from '@/lib/outbox/outbox';
import type { EngineKey } from '@/lib/shared/model';
import { postgresInstallation } from './install-postgres';
import type { InstallStatement } from './install-statement';

const INSTALLATIONS: Partial<Record<EngineKey, (outbox: Outbox) => InstallStatement[]>> = { postgres: postgresInstallation };

/**
 * What an outbox needs in its own database before it can be changed: the record tables, its archive, and exactly the
 * grants its operations use. Running it again changes nothing that is in place already.
 */
export function installStatements(outbox: Outbox): InstallStatement[] {
  const installation = INSTALLATIONS[outbox.database.engine.key];
  if (installation === undefined) throw new Error(`no installation for ${outbox.database.engine.key}`);
  return installation(outbox);
}

/** The statements as a script for a person to read and run. */
export function installScript(outbox: Outbox): string {
  const statements = installStatements(outbox).map(({ why, sql: text }) => `-- ${why}\n${text};`);
  return `BEGIN;\n\n${statements.join('\n\n')}\n\nCOMMIT;\n`;
}

/** Runs the statements in one transaction with the given login, which must own the outbox's table or be a superuser. */
export async function applyInstall(outbox: Outbox, url: string): Promise<void> {
  const database = openDatabase({ id: outbox.database.id, url, operatorUrl: url });
  try {
    await database.write?.(
      async (db) => {
        for (const statement of installStatements(outbox)) await sql.raw(statement.sql).execute(db);
      },
      { statementMs: 7_000, lockMs: 5_000 },
    );
  } finally {
    await database.close();
  }
}
