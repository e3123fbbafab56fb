import { sql } from 'kysely';
import type { Db } from '../engine';
import { reaches, showGrants } from './grants';

/**
 * Whether this user holds a right on a whole table, by grants on it, its database or everything, those of his roles
 * included: only `show grants` tells them on both servers. Without a schema it is a table of the URL's own database. Rights on
 * columns stand beside the columns. Throws DatabaseFailure.
 */
export async function holds(db: Db, right: 'DELETE' | 'TRIGGER', schema: string | null, table: string): Promise<boolean> {
  const { rows } = await sql<{ here: string | null }>`select database() as here`.execute(db);
  const database = schema ?? rows[0]?.here ?? '';
  const grants = (await showGrants(db)).filter(
    (grant) =>
      reaches(grant.database, database) &&
      (grant.table === '*' || grant.table === table) &&
      grant.rights.some(({ name, columns }) => columns.length === 0 && (name === right || /^ALL( PRIVILEGES)?$/.test(name))),
  );
  // What is taken back of a right on everything is no less given by name.
  const partly = grants.some(({ revoked }) => revoked);
  return grants.some((grant) => !grant.revoked && !(partly && grant.database === '*'));
}
