import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { bucketSql, bucketOf } from './histogram';
import { ENGINE_KEYS } from '@/lib/shared/model';

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine);
  let opened: Database;
  beforeAll(() => void (opened = openDatabase({ id: 'test', url: database.url })));
  afterAll(() => opened.close());

  it('puts every duration into the bucket that JavaScript puts it into', async () => {
    const edges = Array.from({ length: 50 }, (_, octave) => 2 ** (octave - 11)).flatMap((edge) => [
      edge,
      edge * (1 + 1 / 32),
      edge * (1 + 31 / 32),
    ]);
    const random = fc.sample(fc.double({ min: 0, max: 1e11, noNaN: true }), { numRuns: 3_000, seed: 7 });
    const values = [0, -1, 0.0005, 0.001, 1, 1_000, ...edges, ...random, ...random.map((value) => value / 1e8)];
    await database.query('create table durations (n int primary key, v double precision)');
    await database.query(`insert into durations values ${values.map((value, n) => `(${n}, ${value.toExponential()})`).join(', ')}`);
    const { fragments } = opened.engine;
    const { rows } = await opened.read((db) =>
      sql<{ bucket: number | string }>`select ${bucketSql(sql.ref('v'), fragments)} as bucket from durations order by n`.execute(db),
    );
    const differing = values.filter((value, index) => Number(rows[index]?.bucket) !== bucketOf(value));
    expect(differing).toEqual([]);
    const { rows: none } = await opened.read((db) => sql`select ${bucketSql(sql`null`, fragments)} as bucket`.execute(db));
    expect(none).toEqual([{ bucket: null }]);
  });
});
