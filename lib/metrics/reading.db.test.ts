import { afterAll, describe, expect, test } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { SHAPES } from '../outbox/shape-registry.gen';
import { createSnapshots } from './snapshots';
import { countedDirectory, settingsOf, type CountedDirectory } from './testing';

const database = useTestDatabase(async (db) => {
  for (const shape of SHAPES) {
    const schema = `s_${shape.key.replaceAll('-', '_')}`;
    await db.query(`create schema ${schema}`);
    for (const ddl of shape.sample?.ddl.postgres ?? [])
      await db.query(ddl.replaceAll('p2p.', `${schema}.`).replace(/(TABLE|ON|LIKE) (outbox\w*)/g, `$1 ${schema}.$2`));
  }
});

test('try', async () => {
  const outboxes = SHAPES.map((shape) =>
    settingsOf(shape, { table: `s_${shape.key.replaceAll('-', '_')}.${shape.table.split('.').at(-1)}` }),
  );
  const directory = countedDirectory(database.url, outboxes);
  const errors: unknown[] = [];
  const snapshots = createSnapshots(directory, { onFailure: (_, error) => errors.push(error) });
  for (const shape of SHAPES) {
    const snapshot = await snapshots.outbox(shape.key, '15m');
    console.log(shape.key, JSON.stringify(snapshot.summary));
  }
  console.log(errors);
  await directory.close();
});
