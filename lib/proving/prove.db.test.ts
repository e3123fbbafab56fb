/** Mappings are proven on the events their tables hold: right ones pass and leave nothing behind, wrong ones lose the operation that is wrong. */
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import { proofFacts } from '@/lib/outbox/proof/proof-facts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, openSample, useTestDatabaseOf, type AnyTestDatabase, type OpenOutbox } from '@/scripts/testing/outbox';
import { bindOutbox } from '@/lib/outbox/bind';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { ENGINE_KEYS, type EngineKey } from '@/lib/shared/model';
import { prove } from './prove';
import { trialsOf } from './survey';
import { mapping, MINE, MINE_DDL, resultOf, told } from '@/fixtures/mapping';

const ALONE = { events: [], actor: 'test' };

const engines = SHAPES.flatMap((shape) => shape.engines.map((engine) => [shape.key, engine, shape] as const));

describe.each(engines)('the built-in shape %s on %s', (_key, engine, shape) => {
  const database = useTestDatabaseOf(engine, (db) => createSample(db, shape));
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, shape);
  });
  afterAll(() => open.close());

  it('does with the events of its sample what every operation says', async () => {
    const document = await prove(open.outbox, ALONE);
    expect(told(document).filter((line) => line.includes('does_not'))).toEqual([]);
    expect(document.outcome).toBe(trialsOf(open.outbox).length === 0 ? 'failed' : 'proven');
  });
});

const MINE_MYSQL = `CREATE TABLE mine (id bigint AUTO_INCREMENT PRIMARY KEY, kind varchar(20) NOT NULL CHECK (kind IN ('mail', 'push')), body json NOT NULL,
    state tinyint NOT NULL DEFAULT 0, tries int NOT NULL DEFAULT 0, claimed_at datetime NULL, note varchar(200), \`key\` varchar(60) NOT NULL UNIQUE,
    made_at datetime NOT NULL DEFAULT CURRENT_TIMESTAMP)`;

/** Eight events: two pending ones, one of them retrying, two of each other state, the older processing one stuck. */
async function fill(db: AnyTestDatabase): Promise<void> {
  await db.query(db.engine === 'postgres' ? MINE_DDL : MINE_MYSQL);
  const key = db.engine === 'postgres' ? 'key' : '`key`';
  for (let n = 1; n <= 8; n += 1)
    await db.query(
      `INSERT INTO mine (kind, body, made_at, state, tries, note, claimed_at, ${key}) VALUES ('mail', '{}', '2026-01-01', ${String(n % 4)}, ${String(n % 4 === 3 ? 9 : n === 8 ? 1 : 0)}, 'boom', ${n === 1 ? "'2026-01-01'" : 'NULL'}, 'k${String(n)}')`,
    );
}

const shape = (change: Partial<Parameters<typeof mapping>[0]> = {}) => mapping({ ...MINE, engines: [...ENGINE_KEYS], ...change });

describe.each(ENGINE_KEYS)('a mapping of one’s own on %s', (engine: EngineKey) => {
  const database = useTestDatabaseOf(engine, fill);
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, shape(), { inline: true });
  });
  afterAll(() => open.close());
  const content = (): Promise<unknown> => database.query('SELECT * FROM mine ORDER BY id');

  it('is proven on its newest events, but for states without any, and nothing of it remains', async () => {
    const before = await content();
    const document = await prove(open.outbox, ALONE);
    expect(told(document)).toEqual([
      'archive dead round_trips',
      'archive pending round_trips',
      'archive retrying round_trips',
      'release processing round_trips',
      'requeue dead round_trips',
      'restore archived untried no_row',
      'retry dead round_trips',
    ]);
    expect(document.outcome).toBe('proven');
    const retry = resultOf(document, 'retry');
    expect(retry).toMatchObject({ rows: ['7', '3'], stateAfter: 'retrying' });
    expect(retry?.changed.sort()).toEqual(['state', 'tries']);
    expect(retry?.statements.map((text) => text.split(' ')[0])).toEqual(['select', 'update']);
    // Ids and names of columns alone: nothing that an event holds.
    expect(JSON.stringify(document)).not.toContain('boom');
    expect(await content()).toEqual(before);
  });

  it('is proven on chosen events, and what is no event of the state is none', async () => {
    const document = await prove(open.outbox, { ...ALONE, events: ['3', '404'] });
    expect(resultOf(document, 'requeue')?.rows).toEqual(['3']);
  });

  it('may be used where no event of a state is there yet', async () => {
    await database.query('UPDATE mine SET state = 2, tries = 0 WHERE state = 3');
    const document = await prove(open.outbox, ALONE);
    await database.query('UPDATE mine SET state = 3, tries = 9 WHERE id IN (3, 7)');
    expect(resultOf(document, 'retry')).toMatchObject({ verdict: 'untried', because: 'no_row' });
    expect(document.outcome).toBe('proven');
  });

  it('is proven to archive what meets its condition, and says nothing where no event does', async () => {
    const guarded = (column: string) =>
      open.rebind({ shape: shape({ archive: { from: ['pending', 'dead'], guard: { column, isNull: true } } }) });
    const of = (document: Awaited<ReturnType<typeof prove>>) => told(document).filter((line) => line.startsWith('archive'));
    const free = await prove(await guarded('claimed_at'), ALONE);
    expect([of(free), free.outcome]).toEqual([['archive pending round_trips', 'archive dead round_trips'], 'proven']);
    const none = await prove(await guarded('note'), ALONE);
    expect([of(none), none.outcome]).toEqual([['archive pending untried guard_not_met', 'archive dead untried guard_not_met'], 'proven']);
  });

  it('is proven to cut a lease short, where the state is asked of another column', async () => {
    const cut = { from: ['processing'], version: 'exact', olderThanStuckAfter: 'claimed_at', set: { claimed_at: { now: true } } } as const;
    const outbox = await open.rebind({ shape: shape({ operations: { release: [{ ...cut, from: [...cut.from] }] } }) });
    expect(resultOf(await prove(outbox, ALONE), 'release')).toMatchObject({
      verdict: 'round_trips',
      stateAfter: 'processing',
      changed: ['claimed_at'],
    });
  });

  it('is not proven by writing what is there already', async () => {
    const outbox = await open.rebind({
      shape: shape({ operations: { retry: [{ from: ['retrying'], version: 'exact', set: { tries: { value: 1 } } }] } }),
    });
    expect(resultOf(await prove(outbox, ALONE), 'retry')).toMatchObject({ verdict: 'untried', because: 'nothing_changed' });
  });
});

describe('a mapping of one’s own', () => {
  const database = useTestDatabase(fill);
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, shape(), { inline: true });
  });
  afterAll(() => open.close());

  it('is tried on events that nobody holds, and none of them says nothing about the mapping', async () => {
    const relay = new pg.Client({ connectionString: database.url });
    await relay.connect();
    await relay.query('BEGIN');
    await relay.query('SELECT 1 FROM mine WHERE id = 7 FOR UPDATE');
    expect(resultOf(await prove(open.outbox, ALONE), 'requeue')).toMatchObject({ verdict: 'round_trips', rows: ['3'] });
    await relay.query('SELECT 1 FROM mine WHERE state = 3 FOR UPDATE');
    const document = await prove(open.outbox, ALONE);
    await relay.query('ROLLBACK');
    await relay.end();
    expect(resultOf(document, 'requeue')).toMatchObject({ verdict: 'untried', because: 'locked' });
    expect(document.outcome).toBe('proven');
  });
});

interface Wrong {
  why: string;
  ddl?: string[];
  change?: Partial<Parameters<typeof mapping>[0]>;
  line: string;
  outcome?: string;
}

const { operations } = MINE;
const rule = (set: Record<string, { value: string | number | null }>) => [{ from: ['dead' as const], version: 'exact' as const, set }];
const before = (body: string): string[] => [
  `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$`,
  'CREATE TRIGGER spoil BEFORE UPDATE ON mine FOR EACH ROW EXECUTE FUNCTION spoil()',
];
const WRONG: Wrong[] = [
  {
    why: 'an operation that leaves the row in another state than it promises',
    change: { operations: { ...operations, requeue: rule({ state: { value: 2 } }) } },
    line: 'requeue dead does_not other_state published',
  },
  {
    why: 'starting over that goes on counting failures',
    change: { operations: { ...operations, requeue: rule({ state: { value: 0 }, tries: { value: 3 } }) } },
    line: 'requeue dead does_not other_state retrying',
  },
  {
    why: 'a rule that takes published rows for dead ones',
    ddl: ['UPDATE mine SET tries = 7 WHERE id = 6'],
    change: { states: [{ state: 'dead', when: { column: 'tries', atLeast: 5 } }, ...MINE.states] },
    line: 'requeue dead does_not fits_published 6',
  },
  { why: 'a column that a trigger rewrites', ddl: before('NEW.tries := OLD.tries + 1;'), line: 'retry dead does_not rewritten tries' },
  { why: 'a trigger that renames the event', ddl: before(`NEW.kind := 'push';`), line: 'retry dead does_not touched_more kind' },
  {
    why: 'a check that refuses what is written',
    change: { operations: { ...operations, retry: rule({ state: { value: 7 } }) } },
    line: 'retry dead does_not refused_by_table',
  },
  {
    why: 'a foreign key that is checked at the end',
    ddl: [
      'CREATE TABLE reasons (note text PRIMARY KEY)',
      `INSERT INTO reasons VALUES ('boom')`,
      'ALTER TABLE mine ADD CONSTRAINT known_note FOREIGN KEY (note) REFERENCES reasons DEFERRABLE INITIALLY DEFERRED',
    ],
    change: { operations: { ...operations, retry: rule({ state: { value: 0 }, note: { value: 'unheard of' } }) } },
    line: 'retry dead does_not refused_by_table',
  },
  {
    why: 'no one event that a trigger refuses: others tell, and each change is read back',
    ddl: before(`IF OLD.id = 7 THEN RAISE EXCEPTION 'not this one'; END IF;`),
    line: 'retry dead round_trips',
    outcome: 'proven',
  },
];

describe.each(WRONG)('a proof refuses $why', ({ ddl = [], change = {}, line, outcome = 'incomplete' }) => {
  const database = useTestDatabase(async (db) => {
    await fill(db);
    for (const statement of ddl) await db.query(statement);
  });

  it('and the other operations stay', async () => {
    const open = await openSample(database, shape(change), { inline: true });
    const document = await prove(open.outbox, ALONE);
    const known = {
      switched: { on: true, facts: proofFacts(open.outbox) },
      decided: { passed: true, refused: ['retry'], facts: proofFacts(open.outbox) },
    };
    const again = await bindOutbox(open.outbox.settings, open.outbox.database, known);
    await open.close();
    expect(told(document)).toContain(line);
    expect(document.outcome).toBe(outcome);
    expect(capabilitiesOf(again).operations).toMatchObject({ retry: { offered: false }, archive: { offered: true } });
  });
});

describe('a mapping that writes a generated column', () => {
  const database = useTestDatabase(async (db) => {
    await db.query(MINE_DDL);
    await db.query('ALTER TABLE mine ADD doubled int GENERATED ALWAYS AS (state * 2) STORED');
  });

  it('is refused before anything is proven', async () => {
    const generated = mapping({ ...MINE, operations: { retry: rule({ doubled: { value: 0 } }) } });
    await expect(openSample(database, generated, { inline: true })).rejects.toThrow(/doubled.*cannot be written/);
  });
});

describe('what a table does beside', () => {
  const database = useTestDatabase(async (db) => {
    await fill(db);
    await db.query('ALTER TABLE mine ADD touched_at timestamptz');
    await db.query('CREATE SEQUENCE changes');
    for (const statement of before(`NEW.touched_at := now(); PERFORM nextval('changes');`)) await db.query(statement);
    await db.query(
      `CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_notify(''mine'', NEW.id::text); RETURN NULL; END'`,
    );
    await db.query('CREATE TRIGGER tell AFTER INSERT OR UPDATE ON mine FOR EACH ROW EXECUTE FUNCTION tell()');
  });

  it('is named, and nobody is notified; where it may reach outside, only chosen events are tried', async () => {
    const open = await openSample(database, shape(), { inline: true });
    await database.query(`GRANT USAGE ON SEQUENCE changes TO o_${database.name}`);
    const listener = new pg.Client({ connectionString: database.url });
    await listener.connect();
    const heard: unknown[] = [];
    listener.on('notification', (message) => heard.push(message));
    await listener.query('LISTEN mine');
    const document = await prove(open.outbox, ALONE);
    await listener.query('SELECT 1');
    await listener.end();
    expect(document.outcome).toBe('proven');
    expect(document.triggers.map(({ name, timing }) => [name, timing])).toEqual([
      ['spoil', 'before'],
      ['tell', 'after'],
    ]);
    expect(document.warnings).toEqual([{ code: 'sequence', table: 'public.mine', name: 'spoil', found: 'nextval()' }]);
    expect(resultOf(document, 'retry')?.notes).toEqual([{ code: 'other_columns', detail: 'touched_at' }]);
    expect(heard).toEqual([]);

    await database.query(`CREATE FUNCTION http_post(text) RETURNS text LANGUAGE sql AS 'SELECT $1'`);
    await database.query(
      `CREATE OR REPLACE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM http_post(NEW.id::text); RETURN NULL; END'`,
    );
    const outbox = await open.rebind();
    const alone = await prove(outbox, ALONE);
    expect(resultOf(alone, 'retry')).toMatchObject({ verdict: 'untried', because: 'only_chosen' });
    expect(resultOf(await prove(outbox, { ...ALONE, events: ['3'] }), 'retry')).toMatchObject({ verdict: 'round_trips', rows: ['3'] });
    await open.close();
  });
});
