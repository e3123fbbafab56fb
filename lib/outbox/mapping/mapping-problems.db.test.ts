/** What is wrong with a mapping is said all at once, each by its place, with what was meant. */
import { expect, it, describe } from 'vitest';
import type { Database } from '@/lib/database/database';
import { DatabaseFailure } from '@/lib/database/failure';
import { tooOld } from '@/lib/database/engines';
import { bindInline, problemsOf, useOpened, useReader } from '@/scripts/testing/inline';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import type { ShapeInput } from '@/lib/shape/shape';
import { ENGINE_KEYS } from '@/lib/shared/model';

const COLUMNS = { id: 'id', createdAt: 'made_at' };

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query(
      'CREATE TABLE things (id bigint PRIMARY KEY, kind varchar(80) NOT NULL, status int NOT NULL, flag boolean NOT NULL, made_at timestamp NOT NULL, done_at bigint, left_a int, lefta int)',
    );
    if (engine === 'postgres') await db.query("CREATE TYPE word AS ENUM ('NEW', 'it''s out')");
    await db.query(
      `CREATE TABLE worded (id bigint PRIMARY KEY, status ${engine === 'postgres' ? 'word' : "enum('NEW', 'it''s out')"} NOT NULL)`,
    );
    const bytes = engine === 'postgres' ? 'bytea' : 'varbinary(40)';
    await db.query(
      `CREATE TABLE raws (id ${bytes} PRIMARY KEY, name ${engine === 'postgres' ? 'bytea' : 'binary(4)'}, note varchar(9), body ${bytes}, other ${bytes})`,
    );
    await db.query(`CREATE TABLE raw_failed (raw_id ${bytes} PRIMARY KEY, note varchar(9))`);
    await db.query('CREATE TABLE hidden (id bigint PRIMARY KEY, made_at timestamp NOT NULL)');
    await db.query(
      'CREATE TABLE buried (nr int PRIMARY KEY, thing_id bigint NOT NULL, name varchar(80) NOT NULL, made_at timestamp NOT NULL)',
    );
  });
  const opened = useReader(database, ['things', 'buried', 'worded', 'raws', 'raw_failed']);
  const linesOf = (over: Partial<ShapeInput>, table = 'things'): Promise<string[]> =>
    problemsOf(opened(), table, { columns: COLUMNS, ...over });

  it('names every column that is not there, with the one that was meant, and every value of the wrong kind', async () => {
    const found = await linesOf({
      columns: { id: 'id', type: 'kinds', createdAt: 'made_at', publishedAt: 'done_at', error: { join: 'tasks', column: 'x' } },
      companions: { tasks: { table: 'task_list', on: { id: 'status' }, purpose: 'tasks' } },
      states: [
        { state: 'published', when: { column: 'status', equals: 'DONE' } },
        { state: 'dead', when: { column: 'kind', equals: 4 } },
        {
          state: 'retrying',
          when: {
            all: [
              { column: 'flag', equals: '1' },
              { column: 'made_at', above: 5 },
            ],
          },
        },
        { state: 'processing', when: { column: 'done_at', future: true } },
        { state: 'pending', when: { column: 'stat', isNull: true } },
      ],
      operations: { requeue: [{ from: ['dead'], version: 'exact', set: { status: { value: 'NEW' }, tries: { value: 0 } } }] },
    });
    const at = (path: string): string => found.find((line) => line.startsWith(`${path}: `)) ?? '';
    expect(at('shape.columns.type')).toContain('the table has no column "kinds"; did you mean "kind"?');
    expect(at('shape.columns.publishedAt')).toContain('time: epoch_ms or epoch_s');
    expect(at('shape.companions.tasks.table')).toContain('does not exist');
    expect(at('shape.states[0].when.equals')).toContain('write a number, without quotes');
    expect(at('shape.states[1].when.equals')).toContain("'4' in quotes");
    expect(at('shape.states[2].when.all[0].equals')).toContain('isTrue');
    expect(at('shape.states[2].when.all[1].above')).toContain('use past, future or olderThan');
    expect(at('shape.states[3].when.column')).toContain('no time by itself');
    expect(at('shape.states[4].when.column')).toContain('did you mean "status"?');
    expect(at('shape.operations.requeue[0].set.status.value')).toContain('write a number, without quotes');
    expect(at('shape.operations.requeue[0].set.tries')).toContain('the table has no column "tries"');
    expect(found).toHaveLength(11);
    // A `boolean` of MySQL is a TINYINT(1), in which many keep a status.
    const code = await linesOf({
      states: [
        {
          state: 'dead',
          when: {
            any: [
              { column: 'flag', equals: 2 },
              { column: 'flag', above: 2 },
            ],
          },
        },
      ],
    });
    expect(code).toHaveLength(engine === 'postgres' ? 2 : 0);
    const never = await linesOf({
      states: [{ state: 'dead', when: { column: 'flag', equals: 500 } }],
      operations: { requeue: [{ from: ['dead'], version: 'exact', set: { flag: { value: 300 } } }] },
    });
    const told = engine === 'postgres' ? ['isTrue'] : ['and never 500', '-128 to 127'];
    expect(never.filter((line) => told.some((text) => line.includes(text)))).toHaveLength(told.length);
    await expect(bindInline(opened(), 'things', { columns: { id: 'nr' } })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('takes no id by which no row would be found again', async () => {
    const [line, ...others] = await linesOf({ columns: { id: ['id', 'made_at'] } });
    expect(line).toMatch(/^shape\.columns\.id: "made_at" is timestamp.*, by which no row is found again; leave it out, or name another$/);
    expect(others).toEqual([]);
    expect(await linesOf({ columns: { id: ['kind', 'id'] } })).toEqual([]);
  });

  it('takes no number of the dead letter itself for the id of its event', async () => {
    const path = 'shape.dead.columns.id: ';
    const [other] = await linesOf({ dead: { table: 'buried', columns: { id: 'name' } } });
    expect(other).toMatch(new RegExp(`^${path}"name" is .*char.*, and the outbox's "id" is bigint`));
    const [mapped] = await linesOf({ dead: { table: 'buried', columns: { id: 'nr' }, map: { thing_id: 'id' } } });
    expect(mapped).toContain(
      `${path}is "nr", and map says that "thing_id" is the outbox's "id": name the column that holds the id the event had`,
    );
    const [more] = await linesOf({ dead: { table: 'buried', columns: { id: ['nr', 'name'] } } });
    expect(more).toContain(`${path}names 2 of 1 columns`);
    expect(await linesOf({ dead: { table: 'buried', columns: { id: 'thing_id' } } })).toEqual([]);
  });

  it('says what bytes are not: a column of another type, padded texts, and values that are none of theirs', async () => {
    const over = {
      columns: { id: 'id', payload: 'body' },
      bytes: { body: 'text' as const, note: 'text' as const, name: 'text' as const, nobody: 'uuid' as const, id: 'uuid' as const },
      dead: { table: 'raw_failed', columns: { id: 'raw_id' } },
      states: [
        { state: 'dead' as const, when: { column: 'id', equals: 'order-1' } },
        { state: 'retrying' as const, when: { column: 'id', equals: 5 } },
        { state: 'published' as const, when: { column: 'other', equals: 'x' } },
        { state: 'pending' as const, when: { always: true as const } },
      ],
    };
    const padded =
      engine === 'mysql' ? ['shape.bytes.name: "name" is binary(4), which fills texts up with zeros: write uuid, or leave it out'] : [];
    const found = await linesOf(over, 'raws');
    expect(found.sort()).toEqual([
      ...padded,
      expect.stringMatching(/^shape\.bytes\.nobody: the table has no column "nobody"/),
      expect.stringMatching(/^shape\.bytes\.note: text is for columns of bytes, and "note" is .*char.*: leave it out$/),
      expect.stringMatching(/^shape\.states\[0\]\.when\.equals: "id" is .*: it holds values of uuid, and never order-1; write another$/),
      expect.stringMatching(/^shape\.states\[1\]\.when\.equals: "id" is .*: write the value as text, '5' in quotes$/),
      expect.stringMatching(/^shape\.states\[2\]\.when\.equals: .*; use isNull or isEmpty, or say under bytes what they hold$/),
    ]);
    expect(await linesOf({ columns: { id: 'id' }, bytes: { id: 'uuid', raw_id: 'uuid', body: 'text' }, dead: over.dead }, 'raws')).toEqual(
      [],
    );
  });

  it('takes no list of what is none, no order by what nobody named, and not the outbox for its own dead letters', async () => {
    const found = await linesOf({
      columns: { id: 'id', createdAt: 'made_at', error: { column: 'status', last: true } },
      dead: { table: 'things', columns: { error: 'kind' } },
      ordering: { key: ['aggregateId', 'kind'], by: 'sequence', blockedBy: ['pending'] },
    });
    expect(found).toEqual([
      expect.stringMatching(/^shape\.columns\.error\.last: "status" is int.*, which is no list: leave last out$/),
      'shape.dead.table: is the outbox itself, whose rows would be there twice: leave it out, and tell what is dead under states',
      'shape.ordering.key: "aggregateId" is neither a role that columns names nor a column of the table: name one',
      'shape.ordering.by: columns does not say which column is sequence: name it there',
    ]);
    expect(await linesOf({ ordering: { key: 'kind', by: 'createdAt', blockedBy: ['pending'] } })).toEqual([]);
  });

  it('knows the words of an enumeration, to be read and to be written', async () => {
    const worded = (word: string, written: string): Promise<string[]> =>
      linesOf(
        {
          columns: { id: 'id' },
          states: [
            { state: 'dead', when: { column: 'status', equals: word } },
            { state: 'pending', when: { always: true } },
          ],
          operations: { requeue: [{ from: ['dead'], version: 'exact', set: { status: { value: written } } }] },
        },
        'worded',
      );
    expect(await worded("it's out", 'NEW')).toEqual([]);
    expect(await worded('its out', 'new')).toEqual([
      expect.stringMatching(/^shape\.states\[0\]\.when\.equals: "status" is .*: it has no value "its out"; did you mean "it's out"\?$/),
      expect.stringMatching(/^shape\.operations\.requeue\[0\]\.set\.status\.value: "status" is .*: it has no value "new"/),
    ]);
  });

  it('says which names fit when several do, and takes the one that is exact', async () => {
    expect(await linesOf({ columns: { id: 'id', attempts: 'LEFT_A' } })).toEqual([]);
    expect(await linesOf({ columns: { id: 'id', attempts: 'leftA' } })).toEqual([]);
    const [line] = await linesOf({ columns: { id: 'id', attempts: 'l_eft_a' } });
    expect(line).toContain('several columns fit "l_eft_a": left_a, lefta');
  });

  it('says what a table that is not there might be, and what a role needs to read one', async () => {
    expect(await linesOf({}, 'thing')).toEqual([expect.stringContaining('table: table thing does not exist') as string]);
    const hidden = await linesOf({}, 'hidden');
    expect(hidden).toHaveLength(1);
    if (engine === 'postgres') expect(hidden[0]).toMatch(/may not read it; its owner can say: GRANT SELECT ON "public"."hidden" TO/);
  });
});

describe('what only the database knows', () => {
  const database = useTestDatabaseOf('postgres', async (db) => {
    await db.query('CREATE TABLE things (id uuid PRIMARY KEY, ref int NOT NULL, wait interval, bits bit(4), made_at timestamptz NOT NULL)');
    await db.query('CREATE TABLE notes (thing text NOT NULL)');
    await db.query('CREATE TABLE buried (id uuid PRIMARY KEY, made_at bigint NOT NULL)');
  });
  const opened = useOpened(database);
  const linesOf = (over: Partial<ShapeInput>, database = opened()): Promise<string[]> =>
    problemsOf(database, 'things', { columns: COLUMNS, ...over });

  it('is asked before anything is read: values and comparisons its types do not have, each by its place', async () => {
    const because = 'the database cannot read the table this way: ';
    const cure = '; name another column, or leave it out';
    expect(
      await linesOf({
        companions: { notes: { table: 'notes', on: { thing: 'ref' }, purpose: 'children' } },
        states: [
          { state: 'processing', when: { column: 'wait', equals: 'a while' } },
          { state: 'published', when: { column: 'made_at', past: true } },
          { state: 'dead', when: { column: 'bits', equals: 1 } },
          { state: 'retrying', when: { exists: { companion: 'notes' } } },
          { state: 'pending', when: { not: { column: 'id', equals: 'no uuid' } } },
        ],
      }),
    ).toEqual([
      `shape.states[0].when: ${because}invalid input syntax for type interval: "a while"${cure}`,
      `shape.states[2].when: ${because}operator does not exist: bit = integer${cure}`,
      `shape.states[3].when: ${because}operator does not exist: text = integer${cure}`,
      `shape.states[4].when: ${because}invalid input syntax for type uuid: "no uuid"${cure}`,
    ]);
  });

  it('is quoted by an older server too, which says the same of what it does not know', async () => {
    const aged: Database = {
      ...opened(),
      read: (work, limits) =>
        opened()
          .read(work, limits)
          .catch((error: unknown) => {
            const age = error instanceof DatabaseFailure ? tooOld('PostgreSQL 15.18', error.state) : null;
            throw error instanceof DatabaseFailure && age !== null ? new DatabaseFailure('outdated', error.state, error.cause, age) : error;
          }),
    };
    const states = [{ state: 'dead' as const, when: { column: 'bits', equals: 1 } }];
    expect(await linesOf({ states }, aged)).toEqual([
      'shape.states[0].when: the database cannot read the table this way: operator does not exist: bit = integer (this server is PostgreSQL 15.18, and the console needs PostgreSQL 16 or newer)',
    ]);
  });

  it('is asked for the rows of both tables in one order', async () => {
    const dead = { table: 'buried', columns: { createdAt: { column: 'made_at', time: 'epoch_ms' as const } } };
    expect(await linesOf({ dead })).toEqual([expect.stringContaining('shape: the database cannot read the table this way: UNION types')]);
    expect(await linesOf({})).toEqual([]);
  });
});
