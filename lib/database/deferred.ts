/** What a transaction has put off to its commit. */
import { sql } from 'kysely';
import type { EngineKey } from '@/lib/shared/model';
import type { Db } from './engine';

/** Engines that put anything off. */
const DEFERS: Record<EngineKey, boolean> = { postgres: true, mysql: false };

/** Checks deferred constraints and runs deferred triggers now, and puts off again what comes after. Throws the driver's error. */
export async function settleConstraints(engine: EngineKey, db: Db): Promise<void> {
  if (!DEFERS[engine]) return;
  await sql`set constraints all immediate`.execute(db);
  await sql`set constraints all deferred`.execute(db);
}
