import { expect } from 'vitest';
import type { TestDatabase } from './database';

/** An autovacuum worker at work in this database, its snapshot held until it is ended: it analyses an index whose expression takes its time. */
export async function holdAutovacuum(database: TestDatabase): Promise<{ pid: number; end: () => Promise<void> }> {
  const linger = (body: string) =>
    `CREATE OR REPLACE FUNCTION public.linger(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN $1; END $$`;
  await database.query(linger(''));
  await database.query('CREATE TABLE public.lingered (id int) WITH (autovacuum_analyze_threshold = 1)');
  await database.query('CREATE INDEX ON public.lingered (public.linger(id))');
  await database.query('INSERT INTO public.lingered SELECT generate_series(1, 100)');
  await database.query(linger('PERFORM pg_sleep(600);'));
  await database.query('SELECT pg_stat_force_next_flush()');
  await database.query('SELECT 1');
  const workers = () =>
    database.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'autovacuum worker' AND wait_event = 'PgSleep'`,
    );
  await expect.poll(async () => (await workers()).length, { timeout: 60_000, interval: 100 }).toBe(1);
  const [{ pid } = { pid: 0 }] = await workers();
  // Whoever wants the table has the worker cancelled.
  return { pid, end: async () => void (await database.query('DROP TABLE public.lingered; DROP FUNCTION public.linger')) };
}
