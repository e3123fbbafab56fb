/** Mappings are proven on tables nobody prepared: right ones pass and leave nothing behind, wrong ones are caught by name. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestMysql } from '@/scripts/testing/mysql';
import { createSample, openSample, settingsFor, type AnyTestDatabase, type OpenOutbox } from '@/scripts/testing/outbox';
import { bindOutbox } from '@/lib/outbox/bind';
import { SHAPES } from '@/lib/outbox/shape-registry.gen';
import type { Shape } from '@/lib/outbox/shape';
import { openDatabase } from '@/lib/database/database';
import { prove } from './prove';
import { trialsOf } from './survey';
import { mapping, MINE, MINE_DDL, resultOf, told } from './testing';

const ALONE = { events: [], ownerUrl: null, actor: 'test' };

const engines = SHAPES.flatMap((shape) => shape.engines.map((engine) => [shape.key, engine, shape] as const));

describe.each(engines)('the built-in shape %s on %s', (_key, engine, shape) => {
  const setUp = (db: AnyTestDatabase): Promise<void> => createSample(db, shape);
  const database: AnyTestDatabase = engine === 'postgres' ? useTestDatabase(setUp) : useTestMysql(setUp);
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, shape);
  });
  afterAll(() => open.close());

  it('round-trips with every operation it offers', async () => {
    // The five of record with the rights of their operator alone: it may insert, since archived rows are restored.
    const document = await prove(open.outbox, { ...ALONE, ownerUrl: shape.proven === 'by_tests' ? null : database.url });
    expect(told(document).filter((line) => !line.includes('round_trips'))).toEqual([]);
    expect(document.outcome).toBe(trialsOf(open.outbox).length === 0 ? 'incomplete' : 'proven');
  });
});

describe('a mapping of one’s own', () => {
  const database = useTestDatabase(async (db) => {
    await db.query(MINE_DDL);
    await db.query(`INSERT INTO mine (kind, body, state, key) SELECT 'mail', '{}', i % 4, 'k' || i FROM generate_series(1, 8) AS i`);
  });
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, mapping(MINE), { inline: true });
  });
  afterAll(() => open.close());
  const counts = async (): Promise<unknown> =>
    database.query(`SELECT (SELECT count(*)::int FROM mine) AS rows, (SELECT count(*)::int FROM outbox_console.archive_sample) AS archived,
      (SELECT count(*)::int FROM outbox_console.intervention) AS records, (SELECT last_value::int FROM mine_id_seq) AS counter,
      (SELECT md5(string_agg(m::text || m.xmin::text, '|' ORDER BY id)) FROM mine m) AS content`);

  it('is proven from every state with the operator’s rights alone, and shows what ran', async () => {
    const document = await prove(open.outbox, ALONE);
    expect(told(document)).toEqual([
      'archive dead round_trips',
      'archive pending round_trips',
      'archive retrying round_trips',
      'release processing round_trips',
      'requeue dead round_trips',
      'restore dead round_trips',
      'restore pending round_trips',
      'restore retrying round_trips',
      'retry dead round_trips',
    ]);
    expect(document).toMatchObject({ outcome: 'proven', ran: { rowsAs: 'operator', changesAs: 'operator' } });
    const retry = resultOf(document, 'retry');
    expect(retry).toMatchObject({ row: { made: true, copied: false }, stateBefore: 'dead', stateAfter: 'retrying' });
    expect(retry?.changed.sort()).toEqual(['state', 'tries']);
    // Content is told by a digest, and that it is one.
    expect(retry?.digested).toEqual(['body']);
    expect(retry?.before?.body).toMatch(/^[0-9a-f]{32,}$/);
    expect(retry?.statements.map(({ text }) => text.split(' ')[0])).toEqual(['select', 'update']);
  });

  it('leaves no row, no archived row and no record, touches no row that was there, and asks no counter', async () => {
    const before = await counts();
    await prove(open.outbox, ALONE);
    expect(await counts()).toEqual(before);
  });

  it('is proven while a relay claims every row it can, and makes it wait for nothing', async () => {
    const relay = new pg.Client({ connectionString: database.url, options: '-c lock_timeout=400' });
    await relay.connect();
    const state = { running: true, rounds: 0 };
    const working = (async () => {
      while (state.running) {
        await relay.query('BEGIN');
        await relay.query('SELECT id FROM mine WHERE state IN (0, 3) ORDER BY id FOR UPDATE');
        await relay.query(`INSERT INTO mine (kind, body, key) VALUES ('push', '{}', 'relay-' || nextval('mine_id_seq'))`);
        await relay.query('ROLLBACK');
        state.rounds += 1;
      }
    })();
    const document = await prove(open.outbox, ALONE);
    state.running = false;
    await working;
    await relay.end();
    expect(document.outcome).toBe('proven');
    expect(state.rounds).toBeGreaterThan(5);
  });

  it('uses a chosen event where no row can be made, and leaves it as it was', async () => {
    const strict = mapping({ ...MINE, archive: undefined });
    await database.query(`REVOKE INSERT, DELETE ON mine FROM o_${database.name}`);
    const outbox = await open.rebind({ shape: strict });
    const before = await counts();
    const alone = await prove(outbox, ALONE);
    expect(told(alone)[0]).toMatch(/^release processing untried no_insert_right/);
    expect(alone.outcome).toBe('incomplete');
    await database.query(`UPDATE mine SET claimed_at = now() - interval '1 hour' WHERE id = 1`);
    const chosen = await prove(outbox, { ...ALONE, events: ['1', '3'] });
    expect(told(chosen)).toEqual(['release processing round_trips', 'requeue dead round_trips', 'retry dead round_trips']);
    expect(resultOf(chosen, 'requeue')?.row).toEqual({ made: false, id: '3' });
    // What a real row holds beside what changed is somebody's data.
    expect(Object.keys(resultOf(chosen, 'requeue')?.before ?? {})).toEqual(resultOf(chosen, 'requeue')?.changed);
    await database.query(`UPDATE mine SET claimed_at = NULL WHERE id = 1`);
    expect(JSON.stringify(await counts()).replace(/"content":"[^"]*"/, '')).toBe(JSON.stringify(before).replace(/"content":"[^"]*"/, ''));
    const made = await prove(outbox, { ...ALONE, ownerUrl: database.url });
    expect(made).toMatchObject({ outcome: 'proven', ran: { rowsAs: 'owner', changesAs: 'operator' } });
    await database.query(`GRANT INSERT, DELETE ON mine TO o_${database.name}`);
  });

  it('is not proven on an event that a relay holds: that says nothing about the mapping', async () => {
    await database.query(`REVOKE INSERT ON mine FROM o_${database.name}`);
    const outbox = await open.rebind({ shape: mapping({ ...MINE, archive: undefined }) });
    const relay = new pg.Client({ connectionString: database.url });
    await relay.connect();
    await relay.query('BEGIN');
    await relay.query('SELECT 1 FROM mine WHERE id = 3 FOR UPDATE');
    const document = await prove(outbox, { ...ALONE, events: ['3'] });
    await relay.query('ROLLBACK');
    await relay.end();
    expect(resultOf(document, 'requeue')).toMatchObject({ verdict: 'does_not', because: 'busy' });
    expect(document.outcome).toBe('incomplete');
    await database.query(`GRANT INSERT ON mine TO o_${database.name}`);
  });
});

interface Wrong {
  why: string;
  ddl?: string[];
  change?: Partial<Parameters<typeof mapping>[0]>;
  expected: [operation: string, state: string, verdict: RegExp];
}

const { operations } = MINE;
const WRONG: Wrong[] = [
  {
    why: 'an operation that leaves the row in another state than it promises',
    change: { operations: { ...operations, requeue: [{ from: ['dead'], version: 'exact', set: { state: { value: 2 } } }] } },
    expected: ['requeue', 'dead', /does_not wrong_state_after/],
  },
  {
    why: 'starting over that goes on counting failures',
    change: {
      operations: { ...operations, requeue: [{ from: ['dead'], version: 'exact', set: { state: { value: 0 }, tries: { value: 3 } } }] },
    },
    expected: ['requeue', 'dead', /does_not wrong_state_after/],
  },
  {
    why: 'a rule that takes published rows for dead ones',
    change: { states: [{ state: 'dead', when: { column: 'tries', atLeast: 5 } }, ...MINE.states] },
    expected: ['requeue', 'dead', /does_not published_matches .*state = 2/],
  },
  {
    why: 'a column that a trigger rewrites',
    ddl: [
      `CREATE FUNCTION keep_tries() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.tries := OLD.tries + 1; RETURN NEW; END'`,
      'CREATE TRIGGER keep BEFORE UPDATE ON mine FOR EACH ROW EXECUTE FUNCTION keep_tries()',
    ],
    expected: ['retry', 'dead', /does_not rewritten tries/],
  },
  {
    why: 'a trigger that renames the event',
    ddl: [
      `CREATE FUNCTION rename() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.kind := ''push''; RETURN NEW; END'`,
      'CREATE TRIGGER rename BEFORE UPDATE ON mine FOR EACH ROW EXECUTE FUNCTION rename()',
    ],
    expected: ['retry', 'dead', /does_not touched_more kind/],
  },
  {
    why: 'a check that refuses what is written',
    change: { operations: { ...operations, retry: [{ from: ['dead'], version: 'exact', set: { state: { value: 7 } } }] } },
    expected: ['retry', 'dead', /does_not refused_by_table .*mine_state_check/],
  },
  {
    why: 'a unique key that a second row cannot have',
    ddl: [
      'CREATE UNIQUE INDEX one_note ON mine (note)',
      `INSERT INTO mine (kind, body, key, note) VALUES ('mail', '{}', 'taken', 'retried')`,
    ],
    change: {
      operations: {
        ...operations,
        retry: [{ from: ['dead'], version: 'exact', set: { state: { value: 0 }, note: { value: 'retried' } } }],
      },
    },
    expected: ['retry', 'dead', /does_not refused_by_table .*one_note/],
  },
  {
    why: 'a foreign key that is checked at the end',
    ddl: [
      'CREATE TABLE reasons (note text PRIMARY KEY)',
      'ALTER TABLE mine ADD CONSTRAINT known_note FOREIGN KEY (note) REFERENCES reasons DEFERRABLE INITIALLY DEFERRED',
    ],
    change: {
      operations: {
        ...operations,
        retry: [{ from: ['dead'], version: 'exact', set: { state: { value: 0 }, note: { value: 'unheard of' } } }],
      },
    },
    expected: ['retry', 'dead', /does_not refused_by_table .*known_note/],
  },
  {
    why: 'a parent row that does not exist',
    ddl: ['CREATE TABLE orders (id int PRIMARY KEY)', 'TRUNCATE mine', 'ALTER TABLE mine ADD order_id int NOT NULL REFERENCES orders'],
    expected: ['retry', 'dead', /untried foreign_key mine_order_id_fkey/],
  },
];

describe('a proof catches', () => {
  for (const { why, ddl = [], change = {}, expected } of WRONG) {
    describe(why, () => {
      const database = useTestDatabase(async (db) => {
        await db.query(MINE_DDL);
        for (const statement of ddl) await db.query(statement);
      });

      it('and says where', async () => {
        const open = await openSample(database, mapping({ ...MINE, ...change }), { inline: true });
        const [operation, state, verdict] = expected;
        const document = await prove(open.outbox, ALONE);
        await open.close();
        expect(told(document).find((line) => line.startsWith(`${operation} ${state} `))).toMatch(verdict);
        expect(document.outcome).not.toBe('proven');
        expect(await database.query('SELECT count(*)::int AS n FROM mine WHERE key LIKE $1', ['oc-proof%'])).toEqual([{ n: 0 }]);
      });
    });
  }
});

describe('a mapping that writes a generated column', () => {
  const database = useTestDatabase(async (db) => {
    await db.query(MINE_DDL);
    await db.query('ALTER TABLE mine ADD doubled int GENERATED ALWAYS AS (state * 2) STORED');
  });

  it('is refused before anything is proven', async () => {
    const shape = mapping({ ...MINE, operations: { retry: [{ from: ['dead'], version: 'exact', set: { doubled: { value: 0 } } }] } });
    await expect(openSample(database, shape, { inline: true })).rejects.toThrow(/doubled.*cannot be written/);
  });
});

describe('what a table does beside', () => {
  const database = useTestDatabase(async (db) => {
    await db.query(MINE_DDL);
    await db.query('ALTER TABLE mine ADD touched_at timestamptz');
    await db.query('CREATE SEQUENCE changes');
    await db.query(
      `CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.touched_at := now(); PERFORM nextval(''changes''); RETURN NEW; END'`,
    );
    await db.query('CREATE TRIGGER touch BEFORE UPDATE ON mine FOR EACH ROW EXECUTE FUNCTION touch()');
    await db.query(
      `CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_notify(''mine'', NEW.id::text); RETURN NULL; END'`,
    );
    await db.query('CREATE TRIGGER tell AFTER INSERT OR UPDATE ON mine FOR EACH ROW EXECUTE FUNCTION tell()');
  });

  it('is named: triggers that run, columns they write, numbers that are not given back; nobody is notified', async () => {
    const open = await openSample(database, mapping(MINE), { inline: true });
    await database.query(`GRANT USAGE ON SEQUENCE changes TO o_${database.name}`);
    const listener = new pg.Client({ connectionString: database.url });
    await listener.connect();
    const heard: unknown[] = [];
    listener.on('notification', (message) => heard.push(message));
    await listener.query('LISTEN mine');
    const document = await prove(open.outbox, ALONE);
    await listener.query('SELECT 1');
    await listener.end();
    await open.close();
    expect(document.outcome).toBe('proven');
    expect(document.triggers.map(({ name, timing }) => [name, timing])).toEqual([
      ['tell', 'after'],
      ['touch', 'before'],
    ]);
    expect(document.warnings).toEqual([{ code: 'sequence', table: 'public.mine', name: 'touch', found: 'nextval()' }]);
    expect(resultOf(document, 'retry')?.notes).toEqual([{ code: 'other_columns', detail: 'touched_at' }]);
    expect(heard).toEqual([]);
  });
});

describe('on MySQL', () => {
  const shape: Shape = mapping({
    ...MINE,
    engines: ['mysql'],
    operations: {
      ...operations,
      requeue: [{ from: ['dead'], version: 'exact', set: { state: { value: 0 }, tries: { value: 0 }, note: { value: null } } }],
    },
  });
  const ddl = (
    more: string,
  ): string => `CREATE TABLE mine (id bigint AUTO_INCREMENT PRIMARY KEY, kind varchar(20) NOT NULL, body json NOT NULL,
    state tinyint NOT NULL DEFAULT 0, tries int NOT NULL DEFAULT 0, claimed_at datetime NULL, note varchar(200), \`key\` varchar(60) NOT NULL UNIQUE,
    made_at datetime NOT NULL DEFAULT CURRENT_TIMESTAMP, CONSTRAINT kinds CHECK (kind IN ('mail', 'push'))) ${more}`;
  const database = useTestMysql(async (db) => {
    await db.query(ddl('ENGINE=InnoDB'));
    for (const state of [0, 1, 2, 3])
      await db.query(`INSERT INTO mine (kind, body, state, \`key\`) VALUES ('mail', '{}', ${state}, 'k${state}')`);
  });
  const plain = useTestMysql(async (db) => void (await db.query(ddl('ENGINE=MyISAM'))));

  it('a mapping is proven with the operator’s rights alone and leaves nothing, the counter included', async () => {
    const open = await openSample(database, shape, { inline: true });
    const look = (): Promise<unknown> =>
      database.query(
        `SELECT (SELECT count(*) FROM mine) AS n, (SELECT auto_increment FROM information_schema.tables WHERE table_schema = database() AND table_name = 'mine') AS next`,
      );
    const before = await look();
    const document = await prove(open.outbox, ALONE);
    expect(told(document).filter((line) => !line.includes('round_trips'))).toEqual([]);
    expect(document).toMatchObject({ outcome: 'proven', ran: { rowsAs: 'operator', changesAs: 'operator' } });
    expect(await look()).toEqual(before);
    await open.close();
  });

  it('a table that cannot take a change back is not proven and not changed', async () => {
    const opened = openDatabase({ id: 'test', url: plain.url, operatorUrl: plain.url });
    const outbox = await bindOutbox(settingsFor(shape, { inline: true }), opened);
    expect(outbox.whyReadOnly).toBe('not_transactional');
    await expect(prove(outbox, ALONE)).rejects.toMatchObject({ code: 'read_only' });
    await opened.close();
  });
});
