import type { Outbox } from '@/lib/outbox/outbox';
import { BOOKS_BEHIND_SECONDS } from '../product';
import type { BenchServer } from './server';

/** Where the books of a table nobody writes to any more would end while it was still written: ISO 8601 UTC. */
export async function foldedTo(server: BenchServer, database: string, outbox: Outbox): Promise<string> {
  const { schema, table } = outbox.main.table;
  const published = outbox.main.roles.publishedAt?.column;
  if (published === undefined) return new Date(Date.now() - BOOKS_BEHIND_SECONDS * 1_000).toISOString();
  const newest = published.kind === 'wall_clock' ? `max(${published.name}) AT TIME ZONE 'UTC'` : `max(${published.name})`;
  const [row] = await server.query<{ at: Date }>(
    database,
    `SELECT ${newest} - interval '${BOOKS_BEHIND_SECONDS} seconds' AS at FROM ${schema}.${table}`,
  );
  return (row?.at ?? new Date()).toISOString();
}
