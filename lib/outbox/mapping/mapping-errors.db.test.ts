import { afterAll, describe, expect, it } from 'vitest';
import { createSample, settingsFor, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { createDirectory, type OutboxDirectory } from '../directory';
import { mappingErrors } from './mapping-errors';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { ENGINE_KEYS } from '@/lib/shared/model';

const shape = SHAPES.find(({ key }) => key === 'namastack-outbox-record');
if (shape === undefined) throw new Error('There is no such shape');

describe.each(ENGINE_KEYS)('built-in shapes on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (made) => {
    await createSample(made, shape, { rows: false });
    // Renamed by its owner, and turned into another type: both at once.
    await made.query('CREATE TABLE changed AS SELECT * FROM outbox_record');
    await made.query(
      `ALTER TABLE changed ${engine === 'postgres' ? 'RENAME COLUMN record_type TO recordtypes' : 'CHANGE record_type recordtypes varchar(255)'}`,
    );
    await made.query('ALTER TABLE changed DROP COLUMN failure_count');
    await made.query('ALTER TABLE changed ADD COLUMN failure_count varchar(20)');
  });
  const opened: OutboxDirectory[] = [];
  afterAll(() => Promise.all(opened.map((directory) => directory.close())));
  const linesOf = (tables: Record<string, string>, url = database.url): Promise<string[]> => {
    const directory = createDirectory({
      databases: [{ id: 'test', url }],
      outboxes: Object.entries(tables).map(([id, table]) => ({ ...settingsFor(shape, { id, table }), database: 'test' })),
    });
    opened.push(directory);
    return mappingErrors(directory);
  };

  it('that fit their tables, tables that are not there yet, and a database that is away are no misfits', async () => {
    expect(await linesOf({ fits: 'outbox_record', later: 'not_yet' })).toEqual([]);
    const away = new URL(database.url);
    away.port = '1';
    expect(await linesOf({ wrong: 'changed' }, away.href)).toEqual([]);
  });

  it('are all looked at, however many are in one database', async () => {
    const fitting = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`fits-${String(index)}`, 'outbox_record']));
    expect(await linesOf({ ...fitting, wrong: 'changed' })).not.toEqual([]);
  });

  it('are refused for a column that is gone and for one of another type, together, by the place of the outbox', async () => {
    const found = await linesOf({ fits: 'outbox_record', wrong: 'changed' });
    const start = 'outboxes[1].shape: outbox wrong: table changed does not fit namastack-outbox-record: ';
    expect(found.every((line) => line.startsWith(start))).toBe(true);
    expect(found.map((line) => line.slice(start.length))).toEqual(
      expect.arrayContaining([
        'columns.type: the table has no column "record_type"; did you mean "recordtypes"?',
        expect.stringMatching(
          /^states\[2\]\.when\.all\[1\]\.above: "failure_count" is .* and cannot be compared with a number: use equals, in or isNull$/,
        ),
      ]),
    );
  });
});
