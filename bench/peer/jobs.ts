/** pg-boss's job table after thirty days of the same events: as many rows, the same states in the same numbers. */
import { eventRows, isDead, PAYLOAD } from '../fillings/filling';
import { load, type Databases } from '../support/databases';
import { dropIndexes } from '../support/indexes';
import type { BenchServer } from '../support/server';
import { runTables, type Peer } from './install';

const TABLE = 'pgboss.job_common';
/** No row is old enough to be deleted while it is measured. */
const KEPT_SECONDS = 90 * 86_400;

/** A database with pg-boss's own tables, filled; answers its name. */
export async function fillJobs(server: BenchServer, databases: Databases, peer: Peer, rows: number): Promise<string> {
  const database = await databases.empty(`pgboss_${rows}`);
  await server.query('postgres', `GRANT ALL ON DATABASE ${database} TO peer`);
  // Its own role owns what it makes, as where it is installed by its manual.
  await runTables(peer, 'create', server.url(database, 'peer'));
  await load(server, database, 'pg-boss', rows, async (client, endsAt) => {
    // The key belongs to the partitioned table: it can only be left out of the load while the partition is a table of its own.
    await client.query(`ALTER TABLE pgboss.job DETACH PARTITION ${TABLE}`);
    const rebuild = await dropIndexes(client, TABLE);
    await client.query(
      `INSERT INTO ${TABLE} (name, data, state, retry_count, created_on, start_after, started_on, completed_on, keep_until, deletion_seconds, output, policy)
        SELECT (ARRAY['order', 'payment', 'shipment', 'email', 'invoice'])[1 + floor(5 * power(u, 1.5))::int], (${PAYLOAD})::jsonb,
          (CASE WHEN ${isDead(rows)} THEN 'failed' WHEN published IS NOT NULL THEN 'completed' WHEN tried > 0 THEN 'retry' ELSE 'created' END)::pgboss.job_state,
          tried, created, created, CASE WHEN published IS NOT NULL THEN created END, published, created + interval '90 days', ${KEPT_SECONDS},
          CASE WHEN ${isDead(rows)} THEN '{"message":"broker refused"}'::jsonb END, 'standard' FROM ${eventRows(rows, endsAt)}`,
    );
    // Its foreign key waits for the end of the transaction.
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    for (const statement of rebuild) await client.query(statement);
    await client.query(`ALTER TABLE pgboss.job ATTACH PARTITION ${TABLE} DEFAULT`);
    // Its upkeep is not what is measured: it would walk the whole table for rows to delete, and there are none.
    await client.query('UPDATE pgboss.queue SET maintain_on = now()');
  });
  // Twice: the first pass looks further back than the later ones.
  for (let pass = 0; pass < 2; pass += 1) await runTables(peer, 'supervise', server.url(database, 'peer'));
  return database;
}
