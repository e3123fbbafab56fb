/** A real library that deletes a job when it is done, watched by a whole collector: every job counted, and how long they waited. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, makeWorkerUtils, run, type WorkerUtils } from 'graphile-worker';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { graphileWorker } from '@/lib/shape/catalog/graphile-worker';
import { testOutbox } from '@/fixtures/outboxes';
import { OBSERVERS } from '../observe';
import { eventually, useStage } from '@/fixtures/collector/stage';

const JOBS = 2_850;
/** At once, so that they wait for each other for a second, whatever else the machine does: nearly all the worker can do. */
const TOGETHER = 190;
const EVERY_MS = 1_900;

describe('graphile-worker, which deletes what it has done', () => {
  const quiet = new Logger(() => () => undefined);
  let utils: WorkerUtils;
  const stage = useStage([testOutbox(graphileWorker, 'graphile_worker', { id: 'jobs' })], async ({ query, url }) => {
    utils = await makeWorkerUtils({ connectionString: url, logger: quiet });
    await utils.migrate();
    await query('create table done (id bigint, waited_ms float8)');
    await query(`create function note() returns trigger language plpgsql as $$ begin
      insert into public.done values (old.id, extract(epoch from clock_timestamp() - old.created_at) * 1000); return null; end $$`);
    await query('create trigger note after delete on graphile_worker._private_jobs for each row execute function note()');
  });
  const done = async (): Promise<{ jobs: number; mean: number }> => {
    const [row] = await stage.observed.query<{ jobs: number; mean: number }>(
      'select count(*)::int as jobs, avg(waited_ms) as mean from done',
    );
    return row ?? { jobs: 0, mean: NaN };
  };
  afterAll(() => utils.release());

  it('has every job counted and its mean within 10 %, those that nobody saw waiting and those that failed once among them', async () => {
    const collector = stage.collect({ observers: OBSERVERS });
    await eventually(() => expect(collector.status('jobs')).toMatchObject({ state: 'collecting', method: 'deleted' }));
    const worker = await run({
      connectionString: stage.observed.url,
      concurrency: 8,
      noHandleSignals: true,
      logger: quiet,
      taskList: {
        send: async (_payload, { job }) => {
          if (Number(job.id) % 97 === 0 && job.attempts === 1) throw new Error('broker away');
          await sleep(40 + (Number(job.id) % 60));
        },
      },
    });
    for (let added = 0; added < JOBS; added += TOGETHER) {
      // A session of its own, as of a service's request: what it inserted is reported when it ends.
      const client = new pg.Client({ connectionString: stage.observed.url });
      await client.connect();
      await client.query(`select graphile_worker.add_job('send', '{}') from generate_series(1, ${TOGETHER})`);
      await client.end();
      await sleep(EVERY_MS);
    }
    await eventually(async () => expect((await done()).jobs).toBe(JOBS));
    await worker.stop();
    await eventually(async () => expect((await stage.total('jobs')).published).toBe(JOBS), 60_000);
    const [{ mean }, cell] = [await done(), await stage.total('jobs')];
    const meanMs = cell.latencySumMs / cell.published;
    expect(Math.abs(meanMs / mean - 1), `${meanMs.toFixed(0)} of ${mean.toFixed(0)} ms`).toBeLessThan(0.1);
    expect(stage.errors).toEqual([]);
  });
});
