/** Mappings that name things which are there, and mean what no row of the table can be. */
import { describe, expect, it } from 'vitest';
import { problemsOf, useReader } from '@/scripts/testing/inline';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import type { ShapeInput } from '@/lib/shape/shape';
import { ENGINE_KEYS } from '@/lib/shared/model';

const STATES: ShapeInput['states'] = [
  { state: 'dead', when: { column: 'status', equals: 4 } },
  { state: 'pending', when: { always: true } },
];

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    const statements = [
      `CREATE TABLE parcels (id bigint PRIMARY KEY, kind varchar(12) NOT NULL, status smallint NOT NULL, body text NOT NULL, sent_at timestamp NULL,
        seconds bigint, millis bigint, micros bigint, later bigint, words varchar(40))`,
      `INSERT INTO parcels VALUES (1, 'a', 0, '{}', NULL, 1767225601, 1767225601000, 1767225601000000, NULL, '1767225601'),
        (2, 'a', 0, '{}', NULL, 9999999999, 9999999999000, 1767225602000000, NULL, NULL)`,
      'CREATE TABLE lanes (tenant int NOT NULL, lane varchar(20) NOT NULL, nr bigint NOT NULL, ref varchar(36), PRIMARY KEY (tenant, lane, nr))',
      "INSERT INTO lanes VALUES (1, 'x', 1, NULL), (1, 'x', 2, NULL), (2, 'x', 1, NULL)",
      `CREATE TABLE keyless (id bigint, kind varchar(12), at ${engine === 'postgres' ? 'timestamp' : 'datetime'} NOT NULL)`,
      'CREATE VIEW seen AS SELECT * FROM parcels',
      'CREATE TABLE buried (nr bigint PRIMARY KEY, why varchar(80), died bigint)',
      'INSERT INTO buried VALUES (7, NULL, 1767225601000)',
    ];
    for (const statement of statements) await db.query(statement);
  });
  const opened = useReader(database, ['parcels', 'lanes', 'keyless', 'seen', 'buried']);
  const linesOf = (
    over: Partial<ShapeInput>,
    table = 'parcels',
    parameters: Record<string, string> = {},
    inline = true,
  ): Promise<string[]> => problemsOf(opened(), table, { columns: { id: 'id' }, ...over }, { parameters, inline });
  const testing = (when: NonNullable<ShapeInput['states'][number]['when']>): Partial<ShapeInput> => ({ states: [{ state: 'dead', when }] });

  it('numbers that are times of another unit than the mapping says are told by the rows themselves', async () => {
    const times = { seconds: 'epoch_ms', millis: 'epoch_s', micros: 'epoch_ms', words: 'epoch_ms' } as const;
    expect(
      await linesOf({
        columns: {
          id: 'id',
          createdAt: { column: 'millis', time: 'epoch_s' },
          publishedAt: { column: 'micros', time: 'epoch_ms' },
          availableAt: { column: 'later', time: 'epoch_s' },
        },
        times: { seconds: 'epoch_ms' },
        dead: { table: 'buried', columns: { id: 'nr', diedAt: { column: 'died', time: 'epoch_s' } } },
      }),
    ).toEqual([
      'shape.times.seconds: "seconds" holds numbers such as 1767225601, which are seconds since 1970: write epoch_s',
      'shape.columns.createdAt.time: "millis" holds numbers such as 1767225601000, which are milliseconds since 1970: write epoch_ms',
      'shape.columns.publishedAt.time: "micros" holds numbers such as 1767225601000000, which are microseconds since 1970: name a column of milliseconds, for instance a generated one',
      'shape.dead.columns.diedAt.time: "died" holds numbers such as 1767225601000, which are milliseconds since 1970: write epoch_ms',
    ]);
    expect(await linesOf({ times: { ...times, micros: 'epoch_s' } })).toHaveLength(4);
    expect(await linesOf({ times: { seconds: 'epoch_s', millis: 'epoch_ms', words: 'epoch_s', later: 'epoch_ms' } })).toEqual([]);
  });

  it('an id that rows share is refused, with the key of the table; one that they merely could share is not', async () => {
    const refused = (id: string, key: string): string[] => [
      `shape.columns.id: several rows have the id ${id}, and would be taken for each other: name the columns that tell them apart; the table's key is ${key}`,
    ];
    expect(await linesOf({ columns: { id: 'kind' } })).toEqual(refused('a', 'id'));
    expect(await linesOf({ columns: { id: 'millis' } })).toEqual([]);
    expect(await linesOf({ columns: { id: 'kind' }, rows: { column: 'id', equals: 1 } })).toEqual([]);
    expect(await linesOf({ columns: { id: ['tenant', 'lane'] } }, 'lanes')).toEqual(refused('1~x', 'tenant, lane, nr'));
    expect(await linesOf({ columns: { id: ['tenant', 'nr'] } }, 'lanes')).toEqual([]);
    for (const table of ['keyless', 'seen']) expect(await linesOf({ columns: { id: 'id' } }, table)).toEqual([]);
  });

  it('a test for NULL of a column that never is, and of emptiness of what has none', async () => {
    const sent = (column: string): Promise<string[]> =>
      linesOf({
        states: [
          { state: 'published', when: { column, isNull: false } },
          { state: 'pending', when: { always: true } },
        ],
      });
    expect(await sent('status')).toEqual([
      'shape.states[0].when.isNull: "status" is never NULL: every row passes, and the rules below are never reached; name another column',
    ]);
    expect(await sent('sent_at')).toEqual([]);
    expect(await linesOf(testing({ not: { column: 'body', isNull: true } }))).toEqual([
      'shape.states[0].when.not.isNull: "body" is never NULL, and no row passes: name another column',
    ]);
    expect(await linesOf(testing({ column: 'id', isNull: false }))).toEqual([]);
    const zero = '; where a zero date stands for none, ask a generated column';
    expect(await linesOf(testing({ column: 'at', isNull: true }), 'keyless')).toEqual([
      `shape.states[0].when.isNull: "at" is never NULL, and no row passes: name another column${engine === 'mysql' ? zero : ''}`,
    ]);
    expect(await linesOf(testing({ column: 'status', isEmpty: true }))).toEqual([
      expect.stringMatching(/^shape\.states\[0\]\.when\.isEmpty: "status" is smallint.*, which is never empty: use isNull or equals$/),
    ]);
  });

  it('values beyond the bounds of a type, to be read and to be written', async () => {
    for (const [value, says] of [
      [99_999, 'it holds numbers from -32768 to 32767'],
      [1.5, 'it holds whole numbers'],
    ] as const) {
      const [read, ...others] = await linesOf(testing({ column: 'status', in: [4, value] }));
      expect(read).toMatch(/^shape\.states\[0\]\.when\.in\[1\]: "status" is smallint/);
      expect(read).toContain(`: ${says}, and never ${value}; write another`);
      expect(others).toEqual([]);
      const operations: ShapeInput['operations'] = { requeue: [{ from: ['dead'], version: 'exact', set: { status: { value } } }] };
      const [written] = await linesOf({ states: STATES, operations });
      expect(written).toMatch(
        new RegExp(`^shape\\.operations\\.requeue\\[0\\]\\.set\\.status\\.value: "status" is smallint.*: ${says}; write another$`),
      );
    }
    expect((await linesOf(testing({ column: 'kind', equals: 'thirteen chars' })))[0]).toMatch(
      /"kind" is (character varying|varchar)\(12\): it holds at most 12 characters, and never thirteen chars; write another$/,
    );
    expect(await linesOf(testing({ column: 'kind', equals: 'twelve chars' }))).toEqual([]);
    expect(await linesOf(testing({ column: 'status', equals: -32_768 }))).toEqual([]);
  });

  it('names that only a change, a dead-letter table or an alternative would use', async () => {
    const requeue: NonNullable<ShapeInput['operations']> = {
      requeue: [{ from: ['dead'], version: 'exact', set: { status: { value: 0 } } }],
    };
    expect(await linesOf({ states: STATES, operations: requeue, lock: { bump: 'lock_version' } })).toEqual([
      expect.stringContaining('shape.lock.bump: the table has no column "lock_version"'),
    ]);
    expect(await linesOf({ dead: { table: 'buried', columns: { id: 'nr' }, map: { way: 'kind', why: 'kindd' } } })).toEqual([
      'shape.dead.map.way: the table has no column "way"; did you mean "why"?',
      'shape.dead.map.why: the table has no column "kindd"; did you mean "kind"?',
    ]);
    expect(await linesOf({}, 'parcels', { deadTable: 'buried' })).toEqual([
      'parameters.deadTable: the mapping has no dead-letter table: write it under shape.dead',
    ]);
    const [none] = await linesOf({ columns: { id: 'id', createdAt: { anyOf: ['created', 'made'] } } });
    expect(none).toMatch(/^shape\.columns\.createdAt\.anyOf: the table has none of these; known: id, kind, /);
    expect(await linesOf({ columns: { id: 'id', createdAt: { anyOf: ['created', 'sent_at'] } } })).toEqual([]);
    expect(await linesOf({ columns: { id: 'id', createdAt: { anyOf: ['created', { column: 'made', optional: true }] } } })).toEqual([]);
  });

  it('says none of it of a built-in shape, whose table may be another version’s', async () => {
    expect(
      await linesOf({ columns: { id: 'kind', createdAt: { anyOf: ['created'] } }, times: { millis: 'epoch_s' } }, 'parcels', {}, false),
    ).toEqual([]);
  });
});
