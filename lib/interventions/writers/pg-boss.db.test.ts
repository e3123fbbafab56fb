/** pg-boss itself, on its own tables: what it says of a job, the console says; what the console gives back, it works on. */
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import PgBoss from 'pg-boss';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { openProven, type ProvenOutbox } from '@/scripts/testing/outbox';
import { pgBossV10 } from '@/lib/shape/catalog/pg-boss';
import type { LiveState } from '@/lib/shared/states';
import { act, eventOf, listedByState, race, seeded, type Raced } from '@/fixtures/library-writers';

/** The library's word for a state of ours. */
const STATES: Record<PgBoss.JobWithMetadata['state'], LiveState> = {
  created: 'pending',
  retry: 'retrying',
  active: 'processing',
  completed: 'published',
  cancelled: 'dead',
  failed: 'dead',
};

describe('pg-boss 10', () => {
  const database = useTestDatabase();
  let boss: PgBoss;
  let open: ProvenOutbox;
  const idOf = (queue: string, job: string): string => `${queue}~${job}`;
  const send = async (queue: string, options: PgBoss.SendOptions = {}): Promise<string> => {
    const id = await boss.send(queue, { order: queue }, options);
    if (id === null) throw new Error(`pg-boss took no job for ${queue}`);
    return id;
  };
  const jobOf = async (queue: string, id: string): Promise<PgBoss.JobWithMetadata> => {
    const job = await boss.getJobById<object>(queue, id);
    if (job === null) throw new Error(`pg-boss has no job ${id}`);
    return job;
  };
  /** The one job that is due in a queue of one job. */
  const take = async (queue: string): Promise<string | undefined> => (await boss.fetch(queue))[0]?.id;
  const failing = async (queue: string, options: PgBoss.SendOptions = {}): Promise<string> => {
    const id = await send(queue, { retryLimit: 0, ...options });
    await take(queue);
    await boss.fail(queue, id, { message: 'no such order' });
    return id;
  };
  const queue = async (name: string, options: Omit<PgBoss.Queue, 'name'> = {}): Promise<string> => {
    await boss.createQueue(name, { name, ...options });
    return name;
  };

  beforeAll(async () => {
    boss = new PgBoss({ connectionString: database.url, supervise: false, schedule: false, max: 5 });
    await boss.start();
    open = await openProven(database, pgBossV10);
  });
  afterAll(async () => {
    await open.close();
    await boss.stop({ graceful: false, wait: true });
  });

  it('shows every job in the state the library itself gives it, alone and in the list', async () => {
    const name = await queue('states');
    const made = {
      created: await send(name, { startAfter: 3_600 }),
      retry: await (async () => {
        const id = await send(name, { retryLimit: 2, retryDelay: 3_600 });
        await take(name);
        await boss.fail(name, id, { message: 'mail server away' });
        return id;
      })(),
      completed: await (async () => {
        const id = await send(name);
        await take(name);
        await boss.complete(name, id, { sent: true });
        return id;
      })(),
      failed: await failing(name),
      cancelled: await (async () => {
        const id = await send(name);
        await boss.cancel(name, id);
        return id;
      })(),
      active: await (async () => {
        const id = await send(name);
        await take(name);
        return id;
      })(),
    };
    const listed = await listedByState(open.outbox, ['pending', 'retrying', 'processing', 'published', 'dead']);
    for (const [word, id] of Object.entries(made)) {
      const job = await jobOf(name, id);
      expect.soft(job.state, 'the library').toBe(word);
      const event = await eventOf(open.outbox, idOf(name, id));
      expect.soft(event?.state, word).toBe(STATES[job.state]);
      for (const [state, ids] of Object.entries(listed))
        expect.soft(ids.includes(idOf(name, id)), `${word} in ${state}`).toBe(state === event?.state);
      expect.soft(event?.attempts, word).toBe(job.retryCount);
      expect.soft(event?.type, word).toBe(name);
    }
    expect((await eventOf(open.outbox, idOf(name, made.failed)))?.error).toContain('no such order');
    // The same column holds the result of a job that went well.
    expect((await eventOf(open.outbox, idOf(name, made.completed)))?.error).toBeNull();
    expect((await eventOf(open.outbox, idOf(name, made.completed)))?.publishedAt).not.toBeNull();
    expect((await eventOf(open.outbox, idOf(name, made.failed)))?.publishedAt).toBeNull();
  });

  it('offers what is safe, and says why the rest is not', () => {
    const { operations, states } = capabilitiesOf(open.outbox);
    expect(operations.retry).toMatchObject({ offered: true, from: ['dead', 'retrying', 'pending'] });
    expect(operations.requeue).toMatchObject({ offered: true, from: ['dead', 'retrying'] });
    expect(operations.release).toEqual({ offered: false, because: 'claim_lapses' });
    expect(states.published).toEqual({ available: true });
    expect(open.outbox.whyReadOnly).toBeNull();
  });

  it('delivers a requeued dead job again, with all its attempts', async () => {
    const name = await queue('requeue');
    const id = await send(name, { retryLimit: 1, retryDelay: 0 });
    for (let attempt = 0; attempt < 2; attempt++) {
      await take(name);
      await boss.fail(name, id, { message: 'no such order' });
    }
    expect((await jobOf(name, id)).state).toBe('failed');
    expect(await take(name)).toBeUndefined();
    expect((await act(open, 'requeue', idOf(name, id))).changed).toEqual([idOf(name, id)]);
    expect(await take(name)).toBe(id);
    expect((await jobOf(name, id)).retryCount).toBe(0);
    await boss.fail(name, id, { message: 'no such order' });
    expect((await jobOf(name, id)).state).toBe('retry');
    expect(await take(name)).toBe(id);
    await boss.complete(name, id);
    expect((await eventOf(open.outbox, idOf(name, id)))?.state).toBe('published');
  });

  it('gives a retried dead job one more attempt, and no more', async () => {
    const name = await queue('retry');
    const id = await failing(name);
    expect((await act(open, 'retry', idOf(name, id))).outcome).toBe('applied');
    expect(await take(name)).toBe(id);
    await boss.fail(name, id, { message: 'still no such order' });
    expect((await jobOf(name, id)).state).toBe('failed');
    expect(await take(name)).toBeUndefined();
  });

  it('resumes a cancelled job as the library does', async () => {
    const name = await queue('cancelled');
    const id = await send(name);
    await boss.cancel(name, id);
    expect((await act(open, 'retry', idOf(name, id))).outcome).toBe('applied');
    expect(await take(name)).toBe(id);
  });

  it('brings a job of later forward, and leaves one alone that is due', async () => {
    const name = await queue('later');
    const id = await send(name, { startAfter: 3_600 });
    expect(await take(name)).toBeUndefined();
    expect((await act(open, 'retry', idOf(name, id))).outcome).toBe('applied');
    const due = await send(await queue('due'));
    expect((await act(open, 'retry', idOf('due', due))).skipped).toMatchObject([{ code: 'wrong_state' }]);
    expect(await take(name)).toBe(id);
  });

  it('keeps a job that failed long ago from the purge of finished jobs once it is to run again', async () => {
    const name = await queue('long ago');
    const [ours, theirs] = [await failing(name), await failing(name)];
    await database.query(`UPDATE pgboss.job SET completed_on = now() - interval '2 days' WHERE name = 'long ago'`);
    expect((await act(open, 'retry', idOf(name, ours))).outcome).toBe('applied');
    await boss.retry(name, theirs);
    await boss.maintain();
    expect(await boss.getJobById(name, ours)).toMatchObject({ state: 'retry' });
    // The reason why ours writes a column more than the library's own retry does.
    expect(await boss.getJobById(name, theirs)).toBeNull();
  });

  it('tells of the copy in the dead-letter queue before a dead job is sent again', async () => {
    await queue('letters');
    const name = await queue('with letters', { deadLetter: 'letters' });
    const id = await failing(name);
    const copies = await listedByState(open.outbox, ['pending']);
    expect(copies.pending?.filter((one) => one.startsWith('letters~'))).toHaveLength(1);
    expect((await eventOf(open.outbox, idOf(name, id)))?.state).toBe('dead');
    expect(capabilitiesOf(open.outbox).operations.requeue).toMatchObject({ warnings: ['copy_in_dead_letter_queue'] });
  });

  it('does not touch a job that a worker has, whatever is asked', async () => {
    const name = await queue('busy');
    const id = await send(name);
    await take(name);
    for (const operation of ['retry', 'requeue', 'archive'])
      expect((await act(open, operation, idOf(name, id))).skipped).toMatchObject([{ code: 'being_processed' }]);
    expect((await jobOf(name, id)).state).toBe('active');
  });

  it('loses nothing and doubles nothing while operators and workers race', async () => {
    const name = await queue('race', { retryLimit: 1, retryDelay: 0 });
    const JOBS = 120;
    await boss.insert(Array.from({ length: JOBS }, (_, at) => ({ name, data: { at }, retryLimit: 1 })));
    const random = seeded(10);
    const completed: string[] = [];
    let stopped = false;
    const worker = async (): Promise<void> => {
      while (!stopped) {
        const [job] = await boss.fetch(name);
        if (job === undefined) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          continue;
        }
        if (random() < 0.6) await boss.fail(name, job.id, { message: 'by chance' });
        else {
          await boss.complete(name, job.id);
          completed.push(job.id);
        }
      }
    };
    const moves = [
      ['requeue', 'dead'],
      ['archive', 'dead'],
      ['retry', 'dead'],
      ['archive', 'pending'],
      ['requeue', 'retrying'],
    ] as const;
    const isOver = (): boolean => stopped;
    const running = [worker(), worker(), worker()];
    const operators = [race(open, moves, isOver, random), race(open, [...moves].reverse(), isOver, random)];
    setTimeout(() => (stopped = true), 4_000);
    await Promise.all(running);
    const raced: Raced[] = await Promise.all(operators);

    const kept = await database.query<{ id: string; state: string }>(`SELECT id::text, state::text FROM pgboss.job WHERE name = 'race'`);
    const archived = await database.query<{ id: string }>(`SELECT id::text FROM outbox_console.archive_sample WHERE name = 'race'`);
    const places = [...kept, ...archived].map((row) => row.id);
    expect(new Set(places).size, 'every job is somewhere').toBe(JOBS);
    expect(places, 'and in one place').toHaveLength(JOBS);
    expect(new Set(completed).size, 'no job is completed twice').toBe(completed.length);
    expect(
      kept
        .filter((row) => row.state === 'completed')
        .map((row) => row.id)
        .sort(),
    ).toEqual([...completed].sort());
    const changes = (operation: string): string[] =>
      raced.flatMap((one) => one.changed[operation] ?? []).filter((id) => id.startsWith('race~'));
    expect(changes('archive').sort()).toEqual(archived.map((row) => idOf(name, row.id)).sort());
    // Otherwise nothing was raced for.
    for (const operation of ['requeue', 'archive', 'retry']) expect(changes(operation).length, operation).toBeGreaterThan(0);
    const recorded = await database.query<{ operation: string; count: string }>(
      `SELECT i.operation, count(*) FROM outbox_console.intervention i JOIN outbox_console.intervention_event e ON e.intervention_id = i.id
       WHERE e.code IS NULL AND e.event_id LIKE 'race~%' GROUP BY 1`,
    );
    for (const { operation, count } of recorded) expect(Number(count), operation).toBe(changes(operation).length);
  });
});
