/** What the words of the shape language write: guards, sums, the greater of two, counters, the library's own functions, moves between tables of other names. */
import { proofFacts } from '@/lib/outbox/proof/proof-facts';
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { bindOutbox } from '@/lib/outbox/bind';
import type { Outbox } from '@/lib/outbox/outbox';
import type { KnownProof } from '@/lib/outbox/proof/proven';
import { defineShape } from '@/lib/shape/define';
import { bindInline, useOpened } from '@/scripts/testing/inline';
import { openSample, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import { installScript } from './install/install';
import { intervene } from './intervene';
import { offersFor, stepLetters } from './offers';
import { previewIntervention } from './preview';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { ENGINE_KEYS } from '@/lib/shared/model';

/** The outbox as it is once somebody has proven the mapping on this very table and turned changes on. */
async function proven(open: OpenOutbox): Promise<{ outbox: Outbox; known: KnownProof }> {
  const known: KnownProof = { switched: { on: true, facts: proofFacts(open.outbox) }, decided: null };
  return { outbox: await bindOutbox(open.outbox.settings, open.outbox.database, known), known };
}

const SHAPE = defineShape({
  key: 'mapped',
  label: 'mapped',
  origin: 'test',
  engines: ['postgres', 'mysql'],
  table: 'work',
  columns: {
    id: ['topic', 'seq'],
    type: 'kind',
    lockedUntil: { column: 'lease_until', time: 'epoch_ms' },
    attempts: 'tries',
    maxAttempts: 'max_tries',
    payload: 'body',
  },
  times: { next_try: 'epoch_ms' },
  dead: {
    table: 'work_failed',
    columns: { id: ['t', 'n'], attempts: 'attempts', diedAt: 'failed_at', error: 'reason' },
    map: { t: 'topic', n: 'seq' },
  },
  states: [
    { state: 'processing', when: { column: 'lease_until', future: true } },
    { state: 'dead', when: { column: 'tries', atLeast: { column: 'max_tries' } } },
    { state: 'retrying', when: { column: 'tries', above: 0 } },
    { state: 'pending', when: { always: true } },
  ],
  parameters: { extra: { relay: { default: 'log', unit: 'text', what: 'How the relay reads' } } },
  operations: {
    retry: [
      {
        from: ['retrying'],
        version: 'exact',
        guard: { column: 'next_try', future: true },
        set: {
          next_try: { now: true },
          max_tries: { greatest: [{ column: 'max_tries' }, { column: 'tries', plus: 1 }] },
        },
      },
      { from: ['pending'], version: 'exact', set: { next_try: { now: true } }, needs: { parameter: 'relay', equals: 'polling' } },
    ],
    requeue: [
      {
        from: ['dead'],
        version: 'exact',
        moveTo: 'main',
        set: { tries: { value: 0 }, max_tries: { value: 5 }, lock_version: { value: 1 } },
      },
    ],
    // Written in the order in which one engine would read what it has just written.
    release: [
      {
        from: ['processing'],
        version: 'exact',
        guard: { column: 'tries', above: 1 },
        set: { tries: { value: 0 }, max_tries: { column: 'tries', plus: 10 }, lease_until: { value: null } },
      },
    ],
  },
  lock: { bump: 'lock_version' },
  archive: { from: ['dead', 'retrying'], guard: { column: 'next_try', future: true } },
});

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query(
      'CREATE TABLE work (topic varchar(40) NOT NULL, seq bigint NOT NULL, kind varchar(40) NOT NULL, body text NOT NULL, tries int NOT NULL, max_tries int NOT NULL, next_try bigint, lease_until bigint, lock_version int NOT NULL, PRIMARY KEY (topic, seq))',
    );
    await db.query(
      'CREATE TABLE work_failed (t varchar(40) NOT NULL, n bigint NOT NULL, kind varchar(40) NOT NULL, body text NOT NULL, attempts int NOT NULL, failed_at timestamp NOT NULL, reason text, PRIMARY KEY (t, n))',
    );
  });
  const owner = useOpened(database);
  let open: OpenOutbox;
  let outbox: Outbox;
  let known: KnownProof;
  beforeAll(async () => {
    open = await openSample(database, SHAPE);
    ({ outbox, known } = await proven(open));
  });
  afterAll(() => open.close());
  beforeEach(async () => {
    for (const statement of [
      'DELETE FROM work',
      'DELETE FROM work_failed',
      "INSERT INTO work VALUES ('a~b', 1, 'k', '{}', 2, 3, 32472144000000, NULL, 7), ('a~b', 2, 'k', '{}', 2, 3, 5, NULL, 7), ('a~b', 3, 'k', '{}', 0, 3, 5, NULL, 7), ('other', 1, 'k', '{}', 2, 3, 32472144000000, NULL, 7)",
      "INSERT INTO work_failed VALUES ('a~b', 9, 'k', '{}', 5, '2026-01-01 00:00:00', 'boom')",
    ])
      await database.query(statement);
  });
  const act = async (operation: string, id: string) => {
    const version = (await getEvent(outbox, id))?.event.version ?? '';
    const events = [{ id, version }];
    const preview = await previewIntervention(outbox, { operation, events });
    const result = await intervene(depsFor(outbox, known), ANNA, 'sample', { operation, events, reason: 'what it writes' }, freshKey());
    return { preview, result };
  };
  const rows = (table: string) => database.query<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY 1, 2`);

  it('is writable, with rights for exactly this', () => {
    expect(outbox.whyReadOnly).toBeNull();
  });

  it('writes the clock as the column spells it, the greater of two values, and one more into the counter; other rows of the key stay', async () => {
    const before = await rows('work');
    const { preview, result } = await act('retry', 'a%7Eb~1');
    expect(preview).toMatchObject({ allowed: 1 });
    expect(result).toMatchObject({ outcome: 'applied', changed: ['a%7Eb~1'] });
    const [first, ...others] = await rows('work');
    expect(Number(first?.lock_version)).toBe(8);
    expect(Number(first?.max_tries)).toBe(3);
    expect(Math.abs(Number(first?.next_try) - Date.now())).toBeLessThan(60_000);
    expect(others).toEqual(before.slice(1));
  });

  it('reads every column as it was before the change, in whatever order the columns are written', async () => {
    await database.query("INSERT INTO work VALUES ('held', 1, 'k', '{}', 2, 3, 5, 32472144000000, 7)");
    const { result } = await act('release', 'held~1');
    expect(result).toMatchObject({ outcome: 'applied', changed: ['held~1'] });
    const held = (await rows('work')).find(({ topic }) => topic === 'held');
    expect([held?.tries, held?.max_tries, held?.lease_until].map((value) => (value === null ? null : Number(value)))).toEqual([
      0,
      12,
      null,
    ]);
  });

  it('leaves a row alone that its guard is not for, and says so before and after', async () => {
    const before = await rows('work');
    const { preview, result } = await act('retry', 'a%7Eb~2');
    expect(preview.rows[0]).toMatchObject({ allowed: false, code: 'wrong_state', because: 'guard_not_met' });
    expect(result.skipped).toMatchObject([{ id: 'a%7Eb~2', code: 'wrong_state', detail: { because: 'guard_not_met' } }]);
    expect(await rows('work')).toEqual(before);
  });

  it('offers what needs a setting only where the configuration says so', async () => {
    const { result } = await act('retry', 'a%7Eb~3');
    expect(result.skipped).toMatchObject([{ code: 'not_supported', detail: { because: 'needs_setting' } }]);
    const polling = await open.rebind({ parameters: { extra: { relay: 'polling' } } });
    expect(capabilitiesOf(polling).operations.retry).toMatchObject({
      offered: true,
      from: expect.arrayContaining(['pending']) as string[],
    });
  });

  it('offers no move between columns of types that do not become each other, and says why', async () => {
    const bytes = engine === 'postgres' ? 'bytea' : 'blob';
    await database.query(`CREATE TABLE letters (id int PRIMARY KEY, body ${bytes}, note text, json_body json)`);
    await database.query(`CREATE TABLE letters_dead (id bigint PRIMARY KEY, content text, note ${bytes}, text_body text)`);
    const requeued = async (map: Record<string, string>, set: Record<string, { value: null }>) => {
      const operations = { requeue: [{ from: ['dead'], version: 'exact', moveTo: 'main', set }] };
      const mapping = { columns: { id: 'id' }, dead: { table: 'letters_dead', map }, operations };
      return capabilitiesOf(await bindInline(owner(), 'letters', mapping)).operations.requeue;
    };
    const [all, none] = [{ offered: true }, engine === 'postgres' ? { offered: false, because: 'types_differ' } : { offered: true }];
    expect(await requeued({ content: 'body' }, { note: { value: null } })).toMatchObject(none);
    expect(await requeued({}, {})).toMatchObject(none);
    expect(await requeued({ text_body: 'json_body' }, { note: { value: null } })).toMatchObject(none);
    expect(await requeued({ content: 'body' }, { body: { value: null }, note: { value: null } })).toMatchObject(all);
  });

  it('moves a row out of a dead-letter table whose columns have other names', async () => {
    const { result } = await act('requeue', 'a%7Eb~9');
    expect(result).toMatchObject({ outcome: 'applied', changed: ['a%7Eb~9'] });
    expect(await rows('work_failed')).toEqual([]);
    const moved = (await rows('work')).find((row) => Number(row.seq) === 9);
    expect(moved).toMatchObject({ topic: 'a~b', kind: 'k' });
    expect(Number(moved?.tries)).toBe(0);
  });

  it('archives out of the outbox table what meets the condition alone', async () => {
    const before = await rows('work');
    const { preview, result } = await act('archive', 'a%7Eb~2');
    expect(preview.rows[0]).toMatchObject({ allowed: false, code: 'wrong_state', because: 'guard_not_met' });
    expect(result.skipped).toMatchObject([{ id: 'a%7Eb~2', code: 'wrong_state', detail: { because: 'guard_not_met' } }]);
    expect(await rows('work')).toEqual(before);
    // The event's page says the same; a dead letter is no relay's, and is asked nothing.
    const offered = async (id: string) => {
      const stored = await getEvent(outbox, id, stepLetters(outbox));
      return stored === null ? null : offersFor(outbox, stored).archive;
    };
    expect(await offered('a%7Eb~2')).toMatchObject({ allowed: false, because: 'guard_not_met' });
    expect(await offered('a%7Eb~1')).toMatchObject({ allowed: true, because: null });
    expect(await offered('a%7Eb~9')).toMatchObject({ allowed: true, because: null });
    expect((await act('archive', 'a%7Eb~1')).result).toMatchObject({ outcome: 'applied', changed: ['a%7Eb~1'] });
    expect(await rows('work')).toEqual(before.slice(1));
  });

  it('archives and restores a dead letter whose id has other names than the outbox has', async () => {
    const before = await rows('work_failed');
    expect((await act('archive', 'a%7Eb~9')).result).toMatchObject({ outcome: 'applied', changed: ['a%7Eb~9'] });
    expect(await rows('work_failed')).toEqual([]);
    expect((await getEvent(outbox, 'a%7Eb~9'))?.event).toMatchObject({ id: 'a%7Eb~9', state: 'archived' });
    expect((await act('restore', 'a%7Eb~9')).result).toMatchObject({ outcome: 'applied', changed: ['a%7Eb~9'] });
    expect(await rows('work_failed')).toEqual(before);
  });
});

describe('a function of the library', () => {
  const called = defineShape({
    key: 'called',
    label: 'called',
    origin: 'test',
    engines: ['postgres'],
    table: 'jobs',
    columns: { id: 'id', attempts: 'tries', payload: 'body' },
    states: [
      { state: 'retrying', when: { column: 'tries', above: 0 } },
      { state: 'pending', when: { always: true } },
    ],
    operations: {
      requeue: [
        {
          from: ['retrying'],
          version: 'exact',
          call: { function: 'library.reschedule', arguments: [{ ids: true }, { name: 'attempts', value: 0 }], writes: ['tries'] },
        },
      ],
    },
  });
  const database = useTestDatabaseOf('postgres', async (db) => {
    await db.query('CREATE TABLE jobs (id bigint PRIMARY KEY, tries int NOT NULL, body text NOT NULL)');
    await db.query('CREATE SCHEMA library');
    await db.query(
      'CREATE FUNCTION library.reschedule(ids bigint[], attempts int) RETURNS SETOF jobs LANGUAGE sql AS $$ UPDATE jobs SET tries = attempts WHERE id = ANY(ids) AND id <> 13 RETURNING * $$',
    );
    await db.query('REVOKE EXECUTE ON FUNCTION library.reschedule FROM PUBLIC');
    await db.query("INSERT INTO jobs VALUES (1, 3, '{}'), (2, 3, '{}'), (13, 3, '{}'), (4, 0, '{}')");
  });
  let open: OpenOutbox;
  let outbox: Outbox;
  let known: KnownProof;
  beforeAll(async () => {
    open = await openSample(database, called);
    ({ outbox, known } = await proven(open));
  });
  afterAll(() => open.close());

  it('is called with exactly the rows that were held, and a row it leaves alone is not called changed', async () => {
    const events = await Promise.all(
      ['1', '13', '4'].map(async (id) => ({ id, version: (await getEvent(outbox, id))?.event.version ?? '' })),
    );
    const preview = await previewIntervention(outbox, { operation: 'requeue', events });
    expect(preview.sql.map((one) => one.text).join('\n')).toContain('"library"."reschedule"');
    const result = await intervene(
      depsFor(outbox, known),
      ANNA,
      'sample',
      { operation: 'requeue', events, reason: 'the library does it' },
      freshKey(),
    );
    expect(result.changed).toEqual(['1']);
    expect(result.skipped).toMatchObject([
      { id: '13', code: 'not_supported', detail: { because: 'library_refused' } },
      { id: '4', code: 'wrong_state' },
    ]);
    expect(await database.query('SELECT id, tries FROM jobs ORDER BY id')).toMatchObject([
      { tries: 0 },
      { tries: 3 },
      { tries: 0 },
      { tries: 3 },
    ]);
  });

  it('may be called because the installation grants it to the operator, and to nobody else; without the grant the outbox is read-only', async () => {
    const { reader, operator } = outbox.database.roles;
    const may = async (role: string | null) =>
      (
        await database.query<{ may: boolean }>("SELECT has_function_privilege($1, 'library.reschedule(bigint[], int)', 'EXECUTE') AS may", [
          role,
        ])
      )[0]?.may;
    expect([await may(operator), await may(reader)]).toEqual([true, false]);
    const revoked = [`EXECUTE ON FUNCTION library.reschedule FROM ${String(operator)}`, `USAGE ON SCHEMA library FROM ${String(operator)}`];
    for (const right of revoked) {
      await database.query(`REVOKE ${right}`);
      expect.soft((await bindOutbox(outbox.settings, outbox.database, known)).whyReadOnly, right).toBe('no_grant');
      await database.query(`GRANT ${right.replace(' FROM ', ' TO ')}`);
    }
    expect((await bindOutbox(outbox.settings, outbox.database, known)).whyReadOnly).toBeNull();
  });
});

describe('a type with a name that has to be quoted', () => {
  const quoted = defineShape({
    key: 'quoted',
    label: 'quoted',
    origin: 'test',
    engines: ['postgres'],
    table: 'things',
    columns: { id: 'id', payload: 'body' },
    states: [
      { state: 'dead', when: { column: 'status', equals: 'GAVE "UP"' } },
      { state: 'pending', when: { always: true } },
    ],
    operations: { requeue: [{ from: ['dead'], version: 'exact', set: { status: { value: 'NEW' } } }] },
  });
  const database = useTestDatabaseOf('postgres', async (db) => {
    await db.query(`CREATE TYPE "order-state, ""주문""" AS ENUM ('NEW', 'GAVE "UP"')`);
    await db.query('CREATE TABLE things (id bigint PRIMARY KEY, status "order-state, ""주문""" NOT NULL, body text NOT NULL)');
    await db.query(`INSERT INTO things VALUES (1, 'GAVE "UP"', '{}')`);
  });
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, quoted);
  });
  afterAll(() => open.close());

  it('is read and written', async () => {
    const { outbox, known } = await proven(open);
    const version = (await getEvent(outbox, '1'))?.event.version ?? '';
    const request = { operation: 'requeue', events: [{ id: '1', version }], reason: 'start over' };
    expect(await intervene(depsFor(outbox, known), ANNA, 'sample', request, freshKey())).toMatchObject({ outcome: 'applied' });
    expect(await database.query('SELECT status::text FROM things')).toEqual([{ status: 'NEW' }]);
  });
});

describe('a table that passes over a row without a word', () => {
  const silent = defineShape({
    key: 'silent',
    label: 'silent',
    origin: 'test',
    engines: ['postgres'],
    table: 'notes\nDROP TABLE kept; --',
    columns: { id: 'id', payload: 'body' },
    states: [
      { state: 'dead', when: { column: 'given_up', isTrue: true } },
      { state: 'pending', when: { always: true } },
    ],
    operations: { requeue: [{ from: ['dead'], version: 'exact', set: { given_up: { value: false } } }] },
    archive: { from: ['dead'] },
  });
  const table = '"notes\nDROP TABLE kept; --"';
  const database = useTestDatabaseOf('postgres', async (db) => {
    await db.query(`CREATE TABLE ${table} (id bigint PRIMARY KEY, given_up boolean NOT NULL, body text NOT NULL)`);
    await db.query(
      "CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF OLD.id % 2 = 0 THEN RETURN NULL; END IF; RETURN coalesce(NEW, OLD); END'",
    );
    await db.query(`CREATE TRIGGER stay BEFORE UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION stay()`);
    await db.query(`INSERT INTO ${table} VALUES (1, true, 'a'), (2, true, 'b'), (3, true, 'c'), (4, true, 'd')`);
  });
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, silent, { table: { table: silent.table as string } });
  });
  afterAll(() => open.close());

  it.each([
    ['requeue', ['1', '2'], { because: 'rewritten', of: 'given_up' }],
    ['archive', ['3', '4'], { because: 'in_two_tables' }],
  ])('%s changes the others, says that this one did not take, and leaves it as it was', async (operation, ids, detail) => {
    const { outbox, known } = await proven(open);
    const events = await Promise.all(ids.map(async (id) => ({ id, version: (await getEvent(outbox, id))?.event.version ?? '' })));
    const result = await intervene(depsFor(outbox, known), ANNA, 'sample', { operation, events, reason: 'start over' }, freshKey());
    expect(result).toMatchObject({
      outcome: 'partly',
      changed: ids.slice(0, 1),
      skipped: [{ id: ids[1], code: 'did_not_take', detail }],
    });
    expect(await database.query(`SELECT given_up FROM ${table} WHERE id = ${ids[1]}`)).toEqual([{ given_up: true }]);
  });

  it('has an installation whose comments end where their lines end', async () => {
    const lines = (await installScript(open.outbox)).split('\n');
    expect(lines.some((line) => line.startsWith('-- ') && line.includes('notes DROP TABLE kept'))).toBe(true);
    expect(lines.filter((line) => line.startsWith('DROP TABLE kept')).every((line) => line.startsWith('DROP TABLE kept; --"'))).toBe(true);
  });
});
