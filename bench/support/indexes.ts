import type pg from 'pg';

/**
 * Takes a table's keys and indexes away and answers the statements that bring them back: one build is faster than ten
 * million insertions.
 */
export async function dropIndexes(client: pg.Client, table: string): Promise<string[]> {
  const { rows: constraints } = await client.query<{ name: string; definition: string }>(
    `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('p', 'u')`,
    [table],
  );
  for (const { name } of constraints) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    'SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid = $1::regclass',
    [table],
  );
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  return [
    ...constraints.map(({ name, definition }) => `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`),
    ...indexes.map(({ definition }) => definition),
  ];
}
