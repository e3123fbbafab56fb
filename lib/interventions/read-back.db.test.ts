/** What a trigger undoes for one row of two hundred, and what a rule for dead rows takes of those that are out. */
import { proofFacts } from '@/lib/outbox/proof/proof-facts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bindOutbox } from '@/lib/outbox/bind';
import { listEvents } from '@/lib/outbox/lists/list-events';
import type { Outbox } from '@/lib/outbox/outbox';
import { defineShape } from '@/lib/shape/define';
import { shapeSchema, type Shape } from '@/lib/shape/shape';
import { ENGINE_KEYS, type EngineKey } from '@/lib/shared/model';
import { openProven, useTestDatabaseOf, type ProvenOutbox } from '@/scripts/testing/outbox';
import { intervene } from './intervene';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';

const SHAPE = defineShape({
  key: 'letters',
  label: 'letters',
  origin: 'test',
  engines: ['postgres', 'mysql'],
  table: 'letters',
  columns: { id: 'id', type: 'kind', payload: 'body', attempts: 'tries', attemptedAt: 'touched_at', createdAt: 'made_at' },
  dead: { table: 'letters_failed', columns: { id: 'letter', error: 'reason' }, map: { letter: 'id' } },
  states: [
    { state: 'dead', when: { column: 'tries', atLeast: 5 } },
    { state: 'published', when: { column: 'sent_at', isNull: false } },
    { state: 'retrying', when: { column: 'tries', above: 0 } },
    { state: 'pending', when: { always: true } },
  ],
  operations: {
    retry: [
      { from: ['dead'], version: 'exact', set: { tries: { value: 4 }, share: { value: 0.126 }, touched_at: { now: true } } },
      { from: ['retrying'], version: 'exact', set: { touched_at: { now: true } } },
    ],
    requeue: [{ from: ['dead'], version: 'exact', moveTo: 'main', set: { tries: { value: 0 } } }],
  },
  archive: { from: ['dead', 'retrying', 'pending'] },
});

const COLUMNS = (engine: EngineKey): string =>
  `kind varchar(20) NOT NULL, body ${engine === 'postgres' ? 'jsonb' : 'longtext'} NOT NULL, tries int NOT NULL, share decimal(6,2), note varchar(20),
    touched_at ${engine === 'postgres' ? 'timestamptz(0)' : 'datetime'}, made_at ${engine === 'postgres' ? 'timestamptz' : 'datetime(6)'} NOT NULL,
    sent_at ${engine === 'postgres' ? 'timestamptz' : 'datetime'}`;

interface Undoing {
  what: string;
  ENGINE_KEYS?: EngineKey[];
  operation: 'retry' | 'requeue' | 'archive' | 'restore';
  code?: string;
  because: string;
  /** Statements for each engine; row 100 is the one. */
  postgres?: string[];
  mysql?: string[];
}

const before = (event: string, body: string): string[] => [
  `CREATE FUNCTION undoing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$`,
  `CREATE TRIGGER undoing BEFORE ${event} FOR EACH ROW EXECUTE FUNCTION undoing()`,
];
const after = (event: string, body: string, deferred = false): string[] => [
  `CREATE FUNCTION undoing() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN ${body} RETURN NULL; END $$`,
  `CREATE ${deferred ? 'CONSTRAINT ' : ''}TRIGGER undoing AFTER ${event} ${deferred ? 'DEFERRABLE INITIALLY DEFERRED ' : ''}FOR EACH ROW EXECUTE FUNCTION undoing()`,
];

const UNDOING: Undoing[] = [
  {
    what: 'before the change',
    operation: 'retry',
    because: 'rewritten',
    postgres: before('UPDATE ON letters', 'IF OLD.id = 100 THEN RETURN OLD; END IF;'),
    mysql: ['CREATE TRIGGER undoing BEFORE UPDATE ON letters FOR EACH ROW IF OLD.id = 100 THEN SET NEW.tries = OLD.tries; END IF'],
  },
  {
    what: 'before the change, without a word',
    operation: 'retry',
    because: 'rewritten',
    postgres: before('UPDATE ON letters', 'IF OLD.id = 100 THEN RETURN NULL; END IF;'),
  },
  {
    what: 'after the change',
    operation: 'retry',
    because: 'rewritten',
    postgres: after(
      'UPDATE ON letters',
      'IF OLD.id = 100 AND pg_trigger_depth() = 1 THEN UPDATE letters SET tries = OLD.tries WHERE id = 100; END IF;',
    ),
  },
  {
    what: 'when it is committed',
    operation: 'retry',
    because: 'rewritten',
    postgres: after(
      'UPDATE ON letters',
      'IF OLD.id = 100 AND NEW.tries < 5 THEN UPDATE letters SET tries = OLD.tries WHERE id = 100; END IF;',
      true,
    ),
  },
  {
    what: 'by writing another state beside',
    operation: 'retry',
    because: 'touched_more',
    postgres: before('UPDATE ON letters', 'IF OLD.id = 100 THEN NEW.sent_at := now(); END IF;'),
    mysql: ['CREATE TRIGGER undoing BEFORE UPDATE ON letters FOR EACH ROW IF OLD.id = 100 THEN SET NEW.sent_at = now(); END IF'],
  },
  {
    what: 'by changing the content',
    operation: 'retry',
    because: 'touched_more',
    postgres: before('UPDATE ON letters', `IF OLD.id = 100 THEN NEW.body := '{"n": 0}'; END IF;`),
    mysql: [`CREATE TRIGGER undoing BEFORE UPDATE ON letters FOR EACH ROW IF OLD.id = 100 THEN SET NEW.body = '{"n": 0}'; END IF`],
  },
  {
    what: 'after a move, by taking the row away',
    operation: 'requeue',
    because: 'not_there',
    postgres: after('DELETE ON letters_failed', 'IF OLD.letter = 100 THEN DELETE FROM letters WHERE id = 100; END IF;'),
    mysql: [
      'CREATE TRIGGER undoing AFTER DELETE ON letters_failed FOR EACH ROW IF OLD.letter = 100 THEN DELETE FROM letters WHERE id = 100; END IF',
    ],
  },
  {
    what: 'by giving a moved row another key',
    operation: 'requeue',
    because: 'not_there',
    postgres: before('INSERT ON letters', 'IF NEW.id = 100 THEN NEW.id := 1000 + (random() * 1000000000)::int; END IF;'),
    mysql: [
      'CREATE TRIGGER undoing BEFORE INSERT ON letters FOR EACH ROW IF NEW.id = 100 THEN SET NEW.id = 1000 + floor(rand() * 1000000000); END IF',
    ],
  },
  {
    what: 'by keeping a moved row where it was, when it is committed',
    operation: 'requeue',
    because: 'in_two_tables',
    postgres: after('DELETE ON letters_failed', 'IF OLD.letter = 100 THEN INSERT INTO letters_failed SELECT OLD.*; END IF;', true),
  },
  {
    what: 'by refusing it when it is committed',
    operation: 'archive',
    code: 'not_supported',
    because: 'refused_by_table',
    postgres: after('DELETE ON letters', `IF OLD.id = 100 THEN RAISE EXCEPTION 'not this one'; END IF;`, true),
  },
  {
    what: 'after the change, which its engine refuses',
    operation: 'retry',
    code: 'not_supported',
    because: 'refused_by_table',
    mysql: [
      'CREATE TRIGGER undoing AFTER UPDATE ON letters FOR EACH ROW IF OLD.id = 100 THEN UPDATE letters SET tries = 6 WHERE id = 100; END IF',
    ],
  },
  {
    what: 'by archiving another row than there was',
    operation: 'archive',
    because: 'in_two_tables',
    postgres: after('DELETE ON letters', 'IF OLD.id = 100 THEN INSERT INTO letters SELECT OLD.*; END IF;'),
  },
];

const cases = ENGINE_KEYS.flatMap((engine) =>
  UNDOING.flatMap((one) => (one[engine] === undefined ? [] : [[engine, one.what, one] as const])),
);

describe.each(cases)(
  'on %s, a trigger that undoes one row of 200 %s',
  (engine, _what, { operation, code = 'did_not_take', because, ...ddl }) => {
    const database = useTestDatabaseOf(engine, async (db) => {
      await db.query(`CREATE TABLE letters (id bigint PRIMARY KEY, ${COLUMNS(engine)})`);
      await db.query(`CREATE TABLE letters_failed (letter bigint PRIMARY KEY, ${COLUMNS(engine)}, reason varchar(50))`);
      const [table, key] = operation === 'requeue' ? ['letters_failed', 'letter'] : ['letters', 'id'];
      const values = Array.from({ length: 200 }, (_, n) => `(${n + 1}, 'mail', '{"n": ${n + 1}}', 6, '2026-01-01 10:00:00.123456')`);
      await db.query(`INSERT INTO ${table} (${key}, kind, body, tries, made_at) VALUES ${values.join(', ')}`);
      for (const statement of ddl[engine] ?? []) await db.query(statement);
    });
    let open: ProvenOutbox;
    beforeAll(async () => {
      open = await openProven(database, SHAPE);
    });
    afterAll(() => open.close());

    it('leaves that one as it was, says so, and changes the others', async () => {
      const count = async (): Promise<unknown> =>
        database.query(`SELECT (SELECT count(*) FROM letters WHERE tries < 5) AS waiting, (SELECT count(*) FROM letters WHERE id = 100 AND tries = 6)
        + (SELECT count(*) FROM letters_failed WHERE letter = 100) AS as_it_was, (SELECT count(*) FROM letters) + (SELECT count(*) FROM letters_failed) AS live`);
      const result = await act(open, operation, await seen(open.outbox));
      expect(result.skipped).toMatchObject([{ id: '100', code, detail: { because } }]);
      expect(result).toMatchObject({ outcome: 'partly', changed: { length: 199 } });
      const [found] = (await count()) as Record<string, unknown>[];
      expect(Object.fromEntries(Object.entries(found ?? {}).map(([name, value]) => [name, Number(value)]))).toEqual(
        operation === 'archive' ? { waiting: 0, as_it_was: 1, live: 1 } : { waiting: 199, as_it_was: 1, live: 200 },
      );
    });
  },
);

const seen = async (outbox: Outbox): Promise<{ id: string; version: string }[]> =>
  (await listEvents(outbox, { state: ['dead'] }, { limit: 200 })).events.map(({ id, version }) => ({ id, version }));

function act(open: ProvenOutbox, operation: string, events: { id: string; version: string }[]) {
  return intervene(depsFor(open.outbox, open.known), ANNA, 'sample', { operation, events, reason: 'one of them' }, freshKey());
}

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query(`CREATE TABLE letters (id bigint PRIMARY KEY, ${COLUMNS(engine)})`);
    await db.query(`CREATE TABLE letters_failed (letter bigint PRIMARY KEY, ${COLUMNS(engine)}, reason varchar(50))`);
  });
  let open: ProvenOutbox;
  beforeAll(async () => {
    open = await openProven(database, SHAPE);
  });
  afterAll(() => open.close());
  beforeEach(async () => {
    for (const table of ['letters', 'letters_failed']) await database.query(`DELETE FROM ${table}`);
    for (const [id, tries, sent] of [
      [1, 6, `'2026-01-02'`],
      [2, 6, 'NULL'],
      [3, 2, 'NULL'],
    ])
      await database.query(
        `INSERT INTO letters (id, kind, body, tries, made_at, sent_at) VALUES (${String(id)}, 'mail', '{}', ${String(tries)}, '2026-01-01', ${String(sent)})`,
      );
  });

  it('an event that the rule for dead ones takes and one for published ones too is not sent again, and may be archived', async () => {
    const events = await seen(open.outbox);
    expect(events.map(({ id }) => id).sort()).toEqual(['1', '2']);
    const result = await act(open, 'retry', events);
    expect(result).toMatchObject({
      changed: ['2'],
      skipped: [{ id: '1', code: 'already_published', detail: { because: 'fits_published' } }],
    });
    expect(
      await act(
        open,
        'archive',
        events.filter(({ id }) => id === '1'),
      ),
    ).toMatchObject({ changed: ['1'] });
  });

  it('an event that was in another table before is changed like any other', async () => {
    const [archived] = (await seen(open.outbox)).filter(({ id }) => id === '2');
    expect(await act(open, 'archive', archived === undefined ? [] : [archived])).toMatchObject({ changed: ['2'] });
    await database.query(`INSERT INTO letters (id, kind, body, tries, made_at) VALUES (2, 'mail', '{}', 6, '2026-01-01')`);
    const again = (await seen(open.outbox)).filter(({ id }) => id === '2');
    expect(await act(open, 'retry', again)).toMatchObject({ outcome: 'applied', changed: ['2'], skipped: [] });
    expect(await database.query('SELECT tries FROM letters WHERE id = 2')).toMatchObject([{ tries: 4 }]);
  });

  it('what is written is compared to its column’s precision, and a row that a trigger refuses leaves the others alone', async () => {
    await database.query('DELETE FROM letters WHERE id = 1');
    await database.query(
      engine === 'postgres'
        ? `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF OLD.id = 2 THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END $$`
        : `CREATE TRIGGER no BEFORE UPDATE ON letters FOR EACH ROW IF OLD.id = 2 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF`,
    );
    if (engine === 'postgres') await database.query('CREATE TRIGGER no BEFORE UPDATE ON letters FOR EACH ROW EXECUTE FUNCTION no()');
    const outbox = await bindOutbox(open.outbox.settings, open.outbox.database);
    const known = { switched: { on: true, facts: proofFacts(outbox) }, decided: null };
    const again = { ...open, known, outbox: await bindOutbox(outbox.settings, outbox.database, known) };
    const events = [...(await seen(again.outbox)), ...(await listEvents(again.outbox, { state: ['retrying'] }, { limit: 9 })).events];
    const result = await act(
      again,
      'retry',
      events.map(({ id, version }) => ({ id, version })),
    );
    expect(result).toMatchObject({
      changed: ['3'],
      skipped: [{ id: '2', code: 'not_supported', detail: { because: 'refused_by_table' } }],
    });
    await database.query(engine === 'postgres' ? 'DROP TRIGGER no ON letters' : 'DROP TRIGGER no');
    expect(await act(open, 'retry', await seen(open.outbox))).toMatchObject({ changed: ['2'] });
    expect((await database.query<{ share: unknown }>('SELECT share FROM letters WHERE id = 2')).map(({ share }) => String(share))).toEqual([
      '0.13',
    ]);
  });
});

const LEASES = defineShape({
  key: 'leases',
  label: 'leases',
  origin: 'test',
  engines: ['postgres', 'mysql'],
  table: 'leases',
  columns: { id: 'id', payload: 'body', attemptedAt: 'claimed_at', lockedUntil: 'lease_until' },
  states: [
    { state: 'published', when: { column: 'status', equals: 'DONE' } },
    { state: 'processing', when: { column: 'status', equals: 'PROCESSING' } },
    { state: 'pending', when: { always: true } },
  ],
  operations: {
    release: [{ from: ['processing'], version: 'exact', olderThanStuckAfter: 'claimed_at', set: { lease_until: { now: true } } }],
  },
});
const HELD = shapeSchema.parse({
  ...LEASES,
  states: [
    { state: 'processing', when: { column: 'lease_until', isNull: false } },
    { state: 'pending', when: { always: true } },
  ],
});

describe.each(ENGINE_KEYS)('a release on %s that only cuts the lease short', (engine) => {
  const time = engine === 'postgres' ? 'timestamptz' : 'datetime(6)';
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query(
      `CREATE TABLE leases (id int PRIMARY KEY, status varchar(20) NOT NULL, body varchar(20) NOT NULL, claimed_at ${time}, lease_until ${time})`,
    );
    for (const id of [1, 2, 3]) await db.query(`INSERT INTO leases VALUES (${String(id)}, 'PROCESSING', '{}', '2026-01-01', '2099-01-01')`);
    const body =
      engine === 'postgres'
        ? `IF OLD.id = 2 THEN NEW.lease_until := OLD.lease_until; END IF; IF OLD.id = 3 THEN NEW.status := 'DONE'; END IF;`
        : `SET NEW.lease_until = IF(OLD.id = 2, OLD.lease_until, NEW.lease_until), NEW.status = IF(OLD.id = 3, 'DONE', NEW.status)`;
    const statements =
      engine === 'postgres' ? before('UPDATE ON leases', body) : [`CREATE TRIGGER undoing BEFORE UPDATE ON leases FOR EACH ROW ${body}`];
    for (const statement of statements) await db.query(statement);
  });
  let open: ProvenOutbox;
  beforeAll(async () => {
    open = await openProven(database, LEASES);
  });
  afterAll(() => open.close());
  const release = async (shape: Shape) => {
    const settings = { ...open.outbox.settings, shape };
    const outbox = await bindOutbox(settings, open.outbox.database);
    const known = { switched: { on: true, facts: proofFacts(outbox) }, decided: null };
    const again = { ...open, known, outbox: await bindOutbox(settings, open.outbox.database, known) };
    const held = async () => (await listEvents(again.outbox, { state: ['processing'] }, { limit: 9 })).events;
    const result = await act(
      again,
      'release',
      (await held()).map(({ id, version }) => ({ id, version })),
    );
    return { result, left: (await held()).map(({ id }) => id).sort() };
  };

  it('is no release where a rule for processing asks the lease and still holds', async () => {
    const { result } = await release(HELD);
    expect(result).toMatchObject({ outcome: 'none', changed: [] });
    expect(result.skipped.find(({ id }) => id === '1')).toMatchObject({
      code: 'did_not_take',
      detail: { because: 'other_state', of: 'processing' },
    });
  });

  it('may leave the state, and is read back like any other change', async () => {
    const { result, left } = await release(LEASES);
    expect(result.changed).toEqual(['1']);
    const skipped = Object.fromEntries(result.skipped.map(({ id, code, detail }) => [id, { code, detail }]));
    expect(skipped).toMatchObject({
      2: { code: 'did_not_take', detail: { because: 'rewritten', of: 'lease_until' } },
      3: { code: 'did_not_take', detail: { because: 'touched_more', of: 'status' } },
    });
    expect(left).toEqual(['1', '2', '3']);
    const due = await database.query(`SELECT id FROM leases WHERE lease_until <= ${engine === 'postgres' ? 'now()' : 'utc_timestamp(6)'}`);
    expect(due.map(({ id }) => Number(id))).toEqual([1]);
  });
});
