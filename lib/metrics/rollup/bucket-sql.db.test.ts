import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { openStore, type Store } from '@/lib/store/store';
import { useTestDatabase } from '@/scripts/testing/database';
import { bucketSql } from './bucket-sql';
import { bucketOf } from './histogram';

const database = useTestDatabase();
let store: Store | undefined;
afterAll(() => store?.close());

it('puts every duration into the bucket that JavaScript puts it into', async () => {
  store = openStore(database.url);
  const edges = Array.from({ length: 50 }, (_, octave) => 2 ** (octave - 11)).flatMap((edge) => [
    edge,
    edge * (1 + 1 / 32),
    edge * (1 + 31 / 32),
  ]);
  const random = fc.sample(fc.double({ min: 0, max: 1e11, noNaN: true }), { numRuns: 3_000, seed: 7 });
  const values = [0, -1, 0.0005, 0.001, 1, 1_000, ...edges, ...random, ...random.map((value) => value / 1e8)];
  const { rows } = await sql<{
    bucket: number;
  }>`select ${bucketSql(sql.ref('v'))} as bucket from unnest(cast(${values} as float8[])) with ordinality as t (v, n) order by n`.execute(
    store.db,
  );
  const differing = values.filter((value, index) => rows[index]?.bucket !== bucketOf(value));
  expect(differing).toEqual([]);
  const { rows: none } = await sql<{ bucket: number | null }>`select ${bucketSql(sql`null`)} as bucket`.execute(store.db);
  expect(none).toEqual([{ bucket: null }]);
});
