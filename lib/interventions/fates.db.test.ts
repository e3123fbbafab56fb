/** What became of events that were sent again, as their relay, their owner or somebody else leaves them. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { above, defineShape, is } from '@/lib/shape/define';
import type { Shape } from '@/lib/shape/shape';
import type { EngineKey } from '@/lib/shared/model';
import { openProven, useTestDatabaseOf, type AnyTestDatabase, type ProvenOutbox } from '@/scripts/testing/outbox';
import { fatesOf } from './fates';
import { intervene } from './intervene';

const COLUMNS = { id: 'id', type: 'kind', payload: 'body', attempts: 'tries', error: 'why', createdAt: 'made_at' };
const common = { label: 'jobs', origin: 'test', columns: COLUMNS };

/** Keeps what it has sent, and dead ones beside the others. */
const KEEPING = defineShape({
  ...common,
  engines: ['postgres', 'mysql'],
  key: 'keeping-jobs',
  table: 'jobs',
  states: [
    { state: 'published', when: is('status', 'sent') },
    { state: 'dead', when: is('status', 'failed') },
    { state: 'processing', when: is('status', 'taken') },
    {
      state: 'retrying',
      when: {
        all: [is('status', 'new'), above('tries', 0)],
      },
    },
    { state: 'pending', when: is('status', 'new') },
  ],
  operations: {
    retry: [{ from: ['dead'], version: 'exact', set: { status: { value: 'new' }, tries: { value: 4 } } }],
    requeue: [{ from: ['dead'], version: 'exact', set: { status: { value: 'new' }, tries: { value: 0 }, why: { value: null } } }],
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
});

/** Deletes what it has sent, and moves dead ones away. */
const DELETING = defineShape({
  ...common,
  engines: ['postgres', 'mysql'],
  key: 'deleting-jobs',
  table: 'jobs',
  columns: { id: 'id', type: 'kind', payload: 'body', attempts: 'tries', createdAt: 'made_at' },
  dead: { table: 'jobs_failed', columns: { error: 'why' } },
  states: [
    { state: 'retrying', when: above('tries', 0) },
    { state: 'pending', when: { always: true } },
  ],
  operations: { requeue: [{ from: ['dead'], version: 'exact', moveTo: 'main', set: { tries: { value: 0 } } }] },
  archive: { from: ['dead', 'pending'] },
});

const TABLE = (engine: EngineKey): string =>
  `id int PRIMARY KEY, kind varchar(20) NOT NULL, body varchar(200) NOT NULL, tries int NOT NULL, made_at ${engine === 'postgres' ? 'timestamptz' : 'datetime'} NOT NULL`;

const ENGINES: EngineKey[] = ['postgres', 'mysql'];

/** Makes event 1 to `count` dead, sends them again, and gives what asks after them. */
function world(database: AnyTestDatabase, shape: Shape) {
  let open: ProvenOutbox;
  beforeAll(async () => {
    open = await openProven(database, shape);
  });
  afterAll(() => open.close());
  const act = async (operation: string, ids: string[], outbox = open.outbox) => {
    const events = await Promise.all(ids.map(async (id) => ({ id, version: (await getEvent(outbox, id))?.event.version ?? '' })));
    const result = await intervene(depsFor(outbox, open.known), ANNA, 'sample', { operation, events, reason: 'a test' }, freshKey());
    expect(result.changed).toEqual(ids);
    return result.interventionId;
  };
  const fates = async (id: string) => {
    const found = await fatesOf(open.outbox, id);
    return { ...found, of: Object.fromEntries(found.events.map((one) => [one.id, one.fate])) };
  };
  return { act, fates };
}

describe.each(ENGINES)('on %s, in a table that keeps what was sent,', (engine) => {
  const database = useTestDatabaseOf(engine, (db) =>
    db.query(`CREATE TABLE jobs (${TABLE(engine)}, status varchar(10) NOT NULL, why varchar(200))`).then(() => undefined),
  );
  const { act, fates } = world(database, KEEPING);
  beforeEach(async () => {
    await database.query('DELETE FROM jobs');
    for (let id = 1; id <= 7; id += 1)
      await database.query(`INSERT INTO jobs VALUES (${id}, 'mail', '{}', 5, '2026-01-01', 'failed', 'node 7${id} answered 503')`);
  });
  const all = ['1', '2', '3', '4', '5', '6', '7'];
  const set = (id: number, change: string) => database.query(`UPDATE jobs SET ${change} WHERE id = ${id}`);

  it('an event waits until the relay has had it, whatever the operation left in the row', async () => {
    const tried = await fates(await act('retry', all));
    expect(tried.fates).toEqual({ published: 0, gone: 0, waiting: 7, retrying: 0, failedAgain: 0, notKnown: 0 });
    expect(tried).toMatchObject({ sameError: 0, error: null, failed: null, goneIsOut: false });
    await database.query(`UPDATE jobs SET status = 'failed'`);
    expect((await fates(await act('requeue', all))).fates.waiting).toBe(7);
  });

  it('each fate is told, and whether those that failed failed of the same error', async () => {
    const id = await act('requeue', all);
    await set(1, `status = 'sent', tries = 1`);
    await set(2, `status = 'taken'`);
    await set(3, `status = 'failed', tries = 5, why = 'node 12 answered 503'`);
    await set(4, `tries = 1, why = 'node 7 answered 503'`);
    await database.query('DELETE FROM jobs WHERE id = 5');
    await act('archive', ['6']);
    await set(7, `status = 'unheard of'`);
    const found = await fates(id);
    expect(found.of).toEqual({
      '1': 'published',
      '2': 'waiting',
      '3': 'failedAgain',
      '4': 'retrying',
      '5': 'gone',
      '6': 'notKnown',
      '7': 'notKnown',
    });
    expect(found.fates).toEqual({ published: 1, gone: 1, waiting: 1, retrying: 1, failedAgain: 1, notKnown: 2 });
    expect(found).toMatchObject({ sameError: 2, error: 'node 12 answered 503', failed: '3' });
    await set(3, `why = 'no funds'`);
    expect(await fates(id)).toMatchObject({ sameError: 1, error: 'no funds' });
    // Without an error nothing can be compared.
    await set(3, 'why = NULL');
    expect(await fates(id)).toMatchObject({ sameError: null });
  });

  it('a failure is seen by its attempt where the error stays word for word', async () => {
    const id = await act('retry', ['1']);
    await set(1, 'tries = 5');
    expect((await fates(id)).of).toEqual({ '1': 'retrying' });
  });

  it('what has no record here is not found', async () => {
    await expect(fates(randomUUID())).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe.each(ENGINES)('on %s, in a table that deletes what was sent,', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query(`CREATE TABLE jobs (${TABLE(engine)})`);
    await db.query(`CREATE TABLE jobs_failed (${TABLE(engine)}, why varchar(200))`);
    for (let id = 1; id <= 3; id += 1)
      await db.query(`INSERT INTO jobs_failed VALUES (${id}, 'mail', '{}', 5, '2026-01-01', 'node 7${id} answered 503')`);
  });
  const { act, fates } = world(database, DELETING);

  it('a row that is gone is out, and one among the dead again is told with its error', async () => {
    const id = await act('requeue', ['1', '2', '3']);
    expect((await fates(id)).fates.waiting).toBe(3);
    await database.query('DELETE FROM jobs WHERE id = 1');
    await database.query(`INSERT INTO jobs_failed SELECT id, kind, body, 5, made_at, 'node 9 answered 503' FROM jobs WHERE id = 2`);
    await database.query('DELETE FROM jobs WHERE id = 2');
    const found = await fates(id);
    expect(found.of).toEqual({ '1': 'gone', '2': 'failedAgain', '3': 'waiting' });
    expect(found).toMatchObject({ goneIsOut: true, sameError: 1, error: 'node 9 answered 503' });
  });
});
