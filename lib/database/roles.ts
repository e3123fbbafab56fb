/** What a proof needs of an engine inside its transaction: acting as another role, an early end, and the number of the last row. */
import { sql, type RawBuilder } from 'kysely';
import type { EngineKey } from '@/lib/shared/model';
import type { Db } from './engine';

/** What each engine can do; MySQL's logins are who they are, and it puts nothing off to the commit. */
const SWITCHES: Record<EngineKey, boolean> = { postgres: true, mysql: false };

/** Acts as `role` until the transaction ends; false where an engine knows no such thing. Throws the driver's error when refused. */
export async function becomeRole(engine: EngineKey, db: Db, role: string): Promise<boolean> {
  if (!SWITCHES[engine]) return false;
  await sql`set local role ${sql.id(role)}`.execute(db);
  return true;
}

/** Acts as whoever logged in again. */
export async function leaveRole(engine: EngineKey, db: Db): Promise<void> {
  if (SWITCHES[engine]) await sql`set local role none`.execute(db);
}

/** Checks deferred constraints and runs deferred triggers now. */
export async function settleConstraints(engine: EngineKey, db: Db): Promise<void> {
  if (SWITCHES[engine]) await sql`set constraints all immediate`.execute(db);
}

/** The number that the last row of this connection got from a counter; NULL where every number was given. */
export function lastCounted(engine: EngineKey): RawBuilder<unknown> {
  return SWITCHES[engine] ? sql`null` : sql`last_insert_id()`;
}
