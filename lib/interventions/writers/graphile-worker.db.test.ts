/** graphile-worker itself, on its own tables: what it runs, what it has given up, and what an operator gives back to it. */
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import { Logger, makeWorkerUtils, run, runOnce, type TaskList, type WorkerUtils } from 'graphile-worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { openProven, type ProvenOutbox } from '@/scripts/testing/outbox';
import { createSnapshots } from '@/lib/snapshots/snapshots';
import { bindOutbox } from '@/lib/outbox/bind';
import { graphileWorker } from '@/lib/shape/catalog/graphile-worker';
import { depsFor } from '@/fixtures/interventions';
import { act, eventOf, listedByState, race, seeded, until, type Raced } from '@/fixtures/library-writers';

const quiet = new Logger(() => () => undefined);
/** The tables have row-level security without a policy; whoever is not their owner needs one. */
const SHOWN = ['_private_jobs', '_private_tasks', '_private_job_queues'].map(
  (table) => `CREATE POLICY console ON graphile_worker.${table} USING (true) WITH CHECK (true)`,
);

describe('graphile-worker 0.17', () => {
  const database = useTestDatabase();
  let utils: WorkerUtils;
  let open: ProvenOutbox;
  /** What ran, in the order it ended; tasks called `bad` fail. */
  const ran: string[] = [];
  const taskList: TaskList = {
    good: (_payload, { job }) => void ran.push(job.id),
    bad: (_payload, { job }) => {
      ran.push(job.id);
      throw new Error('no such order');
    },
  };
  /** Everything that is due; the library may say that it is through a moment before its last job is unlocked. */
  const work = async (): Promise<void> => {
    await runOnce({ connectionString: database.url, taskList, noHandleSignals: true, logger: quiet });
    await until(
      'every job is let go',
      async () => (await database.query('SELECT 1 FROM graphile_worker._private_jobs WHERE locked_at IS NOT NULL')).length === 0,
    );
  };
  const add = async (task: string, spec: Parameters<WorkerUtils['addJob']>[2] = {}): Promise<string> =>
    (await utils.addJob(task, { order: 1 }, spec)).id;
  const rowOf = async (id: string): Promise<Record<string, unknown> | undefined> =>
    (await database.query<Record<string, unknown>>('SELECT * FROM graphile_worker._private_jobs WHERE id = $1', [id]))[0];
  const times = (id: string): number => ran.filter((one) => one === id).length;

  beforeAll(async () => {
    utils = await makeWorkerUtils({ connectionString: database.url, logger: quiet });
    await utils.migrate();
    open = await openProven(database, graphileWorker);
  });
  afterAll(async () => {
    await open.close();
    await utils.release();
  });

  it('says that it cannot see the jobs where row-level security hides them, not that there are none', async () => {
    await add('hidden', { runAt: new Date('2099-01-01') });
    const verdict = async (): Promise<unknown> => {
      const snapshots = createSnapshots(depsFor(open.outbox).directory);
      return (await snapshots.summary('sample', '1h')).diagnosis;
    };
    expect(await verdict()).toMatchObject({ verdict: 'cannot_see', evidence: [{ code: 'rows_hidden' }, { code: 'figures_partial' }] });
    // The operator's role would find no row to change.
    expect(open.outbox).toMatchObject({ whyReadOnly: 'no_grant' });
    for (const statement of SHOWN) await database.query(statement);
    open = { ...open, outbox: await bindOutbox(open.outbox.settings, open.outbox.database, open.known) };
    expect(await verdict()).not.toMatchObject({ verdict: 'cannot_see' });
    expect(Object.values(await listedByState(open.outbox, ['pending'])).flat()).toHaveLength(1);
    expect(open.outbox.whyReadOnly).toBeNull();
  });

  it('shows every job in the state the library itself has it in, alone and in the list', async () => {
    let look: () => void = () => undefined;
    const looked = new Promise<void>((resolve) => (look = resolve));
    const [due, later] = [await add('nobody'), await add('good', { runAt: new Date('2099-01-01') })];
    const [failed, dead] = [await add('bad', { maxAttempts: 3 }), await add('bad', { maxAttempts: 1 })];
    const done = await add('good');
    await work();
    const running = await add('slow', { maxAttempts: 1, queueName: 'mail' });
    const worker = runOnce({ connectionString: database.url, taskList: { slow: () => looked }, noHandleSignals: true, logger: quiet });
    await until('the worker has its job', async () => (await rowOf(running))?.locked_by !== null);

    const expected = { [due]: 'pending', [later]: 'pending', [failed]: 'retrying', [dead]: 'dead', [running]: 'processing' };
    const listed = await listedByState(open.outbox, ['pending', 'retrying', 'processing', 'dead']);
    for (const [id, state] of Object.entries(expected)) {
      const event = await eventOf(open.outbox, id);
      expect.soft(event?.state, id).toBe(state);
      for (const [other, ids] of Object.entries(listed)) expect.soft(ids.includes(id), `${id} in ${other}`).toBe(other === state);
    }
    // The library's own word for "may be taken": neither locked nor out of attempts.
    const available = await database.query<{ id: string }>('SELECT id::text FROM graphile_worker._private_jobs WHERE is_available');
    expect([...(listed.pending ?? []), ...(listed.retrying ?? [])].sort()).toEqual(available.map((row) => row.id).sort());
    expect(await eventOf(open.outbox, running)).toMatchObject({ type: 'slow', attempts: 1 });
    expect((await eventOf(open.outbox, dead))?.error).toContain('no such order');
    expect(await eventOf(open.outbox, done), 'what is done is gone').toBeNull();
    expect(capabilitiesOf(open.outbox).states.published).toEqual({ available: false, because: 'deleted_on_publish' });

    for (const operation of ['retry', 'requeue', 'archive'])
      expect((await act(open, operation, running)).skipped).toMatchObject([{ code: 'being_processed' }]);
    look();
    await worker;
    expect(await rowOf(running)).toBeUndefined();
  });

  it('offers what is safe, and says why the rest is not', () => {
    const { operations } = capabilitiesOf(open.outbox);
    expect(operations.retry).toMatchObject({ offered: true, from: ['dead', 'retrying', 'pending'] });
    expect(operations.requeue).toMatchObject({ offered: true, from: ['dead', 'retrying'] });
    expect(operations.release).toEqual({ offered: false, because: 'frees_whole_worker' });
  });

  it('has a requeued dead job run again with all its attempts', async () => {
    const id = await add('bad', { maxAttempts: 2 });
    await work();
    await database.query(`UPDATE graphile_worker._private_jobs SET run_at = now() WHERE id = $1`, [id]);
    await work();
    await work();
    expect([times(id), (await eventOf(open.outbox, id))?.state]).toEqual([2, 'dead']);
    expect((await act(open, 'requeue', id)).changed).toEqual([id]);
    expect(await rowOf(id)).toMatchObject({ attempts: 0, max_attempts: 2, is_available: true });
    await work();
    expect([times(id), (await eventOf(open.outbox, id))?.state]).toEqual([3, 'retrying']);
  });

  it('gives a retried dead job one more attempt, and no more', async () => {
    const id = await add('bad', { maxAttempts: 1 });
    await work();
    expect((await act(open, 'retry', id)).outcome).toBe('applied');
    await work();
    await work();
    expect([times(id), (await eventOf(open.outbox, id))?.state]).toEqual([2, 'dead']);
  });

  it('runs a job at once that waits for its next attempt, and one that is scheduled', async () => {
    const [failed, later] = [await add('bad', { maxAttempts: 5 }), await add('good', { runAt: new Date('2099-01-01') })];
    await work();
    await work();
    expect([times(failed), times(later)]).toEqual([1, 0]);
    expect((await act(open, 'retry', failed, later)).outcome).toBe('applied');
    await work();
    expect([times(failed), times(later)]).toEqual([2, 1]);
  });

  it('takes a job out and puts it back as it was, and not over a newer one with its key', async () => {
    const id = await add('good', { runAt: new Date('2099-01-01'), jobKey: 'receipt' });
    const before = await rowOf(id);
    expect((await act(open, 'archive', id)).outcome).toBe('applied');
    expect(await rowOf(id)).toBeUndefined();
    const newer = await add('good', { runAt: new Date('2099-01-01'), jobKey: 'receipt' });
    expect((await act(open, 'restore', id)).skipped).toMatchObject([{ code: 'already_exists' }]);
    await utils.completeJobs([newer]);
    expect((await act(open, 'restore', id)).outcome).toBe('applied');
    // What was waiting comes back as permanently failed, so that no worker runs it unasked.
    expect(await rowOf(id)).toEqual({ ...before, attempts: before?.max_attempts, is_available: false });
  });

  it('loses nothing and doubles nothing while operators and workers race', async () => {
    const JOBS = 150;
    const random = seeded(7);
    const done: string[] = [];
    const last = (await database.query<{ id: string }>('SELECT max(id)::text AS id FROM graphile_worker._private_jobs'))[0]?.id ?? '0';
    const mine = `id > ${last}`;
    for (let job = 0; job < JOBS; job++) await add('chance', { maxAttempts: 1 + (job % 2) });
    const runner = await run({
      connectionString: database.url,
      concurrency: 4,
      pollInterval: 50,
      noHandleSignals: true,
      logger: quiet,
      taskList: {
        chance: async (_payload, { job }) => {
          await new Promise((resolve) => setTimeout(resolve, 10 + random() * 20));
          if (random() < 0.7) throw new Error('by chance');
          done.push(job.id);
        },
      },
    });
    const moves = [
      ['requeue', 'dead'],
      ['archive', 'dead'],
      ['retry', 'retrying'],
      ['retry', 'dead'],
      ['archive', 'pending'],
      ['requeue', 'retrying'],
    ] as const;
    let stopped = false;
    setTimeout(() => (stopped = true), 4_000);
    const operators = [race(open, moves, () => stopped, random), race(open, [...moves].reverse(), () => stopped, random)];
    const raced: Raced[] = await Promise.all(operators);
    // Stopped in the middle of a job, the library may leave it locked though it is done.
    await until('the workers have nothing left to do', async () => {
      const busy = await database.query(
        `SELECT 1 FROM graphile_worker._private_jobs WHERE ${mine} AND (locked_at IS NOT NULL OR is_available)`,
      );
      return busy.length === 0;
    });
    await runner.stop();

    const kept = await database.query<{ id: string }>(`SELECT id::text FROM graphile_worker._private_jobs WHERE ${mine}`);
    const archived = await database.query<{ id: string }>(`SELECT id::text FROM outbox_console.archive_sample WHERE ${mine}`);
    const places = [...kept, ...archived].map((row) => row.id);
    expect(new Set(done).size, 'no job is done twice').toBe(done.length);
    expect(new Set([...places, ...done]).size, 'every job is somewhere or done').toBe(JOBS);
    expect(places.length + done.length, 'and in one place').toBe(JOBS);
    const changes = (operation: string): string[] => raced.flatMap((one) => one.changed[operation] ?? []);
    for (const operation of ['requeue', 'archive', 'retry']) expect(changes(operation).length, operation).toBeGreaterThan(0);
    expect(
      changes('archive')
        .filter((id) => Number(id) > Number(last))
        .sort(),
    ).toEqual(archived.map((row) => row.id).sort());
  });
});
