/** Carries out the runs of every outbox whose lease this process gets, one at a time per outbox; any number of processes share the work. */
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { LeaseLost, releaseLease, takeLease, type Lease } from '@/lib/store/collector-leases';
import { openRuns, outboxesToRun, type StoredRun } from '@/lib/store/runs';
import { Carrying, IDLE } from './carry';
import { isGoing } from './going';
import { RUN_TIMING, type RunDeps } from './deps';

export type Runs = ReturnType<typeof createRuns>;

type Options = Omit<RunDeps, 'timing'> & { timing?: Partial<RunDeps['timing']> };

export function createRuns(options: Options) {
  const deps: RunDeps = { ...options, timing: { ...RUN_TIMING, ...options.timing } };
  const owner = `${hostname()} ${String(pid)} ${randomBytes(6).toString('hex')}`;
  const owned = new Map<string, Promise<void>>();
  let stopping = new AbortController();
  stopping.abort();
  let polling = Promise.resolve();
  let waker = new AbortController();

  const pause = async (milliseconds: number): Promise<void> => {
    const { signal } = waker;
    // A loop per outbox waits on this one signal: more listeners than Node takes for a leak.
    setMaxListeners(0, signal);
    await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
  };

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      const wanted = await outboxesToRun(deps.store.db).catch(() => []);
      for (const outbox of wanted) {
        if (owned.has(outbox) || !deps.directory.ids.includes(outbox)) continue;
        const lease = await takeLease(deps.store.db, `run/${outbox}`, owner, deps.timing.leaseSeconds).catch(() => null);
        if (lease === null) continue;
        const owning = own(outbox, lease).finally(() => owned.delete(outbox));
        owned.set(outbox, owning);
      }
      await pause(deps.timing.pollMs);
    }
  }

  /** Until nothing is left to do, or the lease is lost. Never rejects. */
  async function own(outbox: string, lease: Lease): Promise<void> {
    const { store, timing } = deps;
    let lost = false;
    const renewal = setInterval(
      () =>
        void takeLease(store.db, lease.outbox, owner, timing.leaseSeconds).then(
          (renewed) => (lost ||= renewed?.epoch !== lease.epoch),
          () => undefined,
        ),
      (timing.leaseSeconds * 1_000) / 3,
    );
    renewal.unref();
    const carried = new Map<string, Carrying>();
    try {
      for (let failures = 0; !lost && !stopping.signal.aborted;) {
        try {
          const runs = await openRuns(store.db, outbox);
          if (runs.length === 0) break;
          const wait = await round(runs, carried, lease);
          failures = 0;
          if (wait > 0) await pause(Math.min(wait, timing.pollMs));
        } catch (error) {
          carried.clear();
          if (error instanceof LeaseLost) lost = true;
          else {
            // Of the store, or nothing that anybody expected: what it holds is read anew.
            if (failures === 0) deps.onError(outbox, error);
            failures += 1;
            await pause(Math.min(timing.leaseSeconds * 1_000, timing.retryMs * 2 ** Math.min(failures - 1, 6)));
          }
        }
      }
    } finally {
      clearInterval(renewal);
      if (!lost) await releaseLease(store.db, lease).catch(() => undefined);
    }
  }

  /** What is under way first, then the run whose turn it is, then fates of the others. */
  async function round(runs: readonly StoredRun[], carried: Map<string, Carrying>, lease: Lease): Promise<number> {
    const carrying = async (run: StoredRun): Promise<Carrying> => {
      const one = carried.get(run.id) ?? (await Carrying.load(deps, lease, run));
      carried.set(run.id, one);
      return one;
    };
    for (const id of carried.keys()) if (!runs.some((run) => run.id === id)) carried.delete(id);
    let wait = IDLE;
    const turn = runs.find(isGoing) ?? runs.find(({ state }) => state === 'queued');
    const isUnderWay = ({ id, declared }: StoredRun): boolean => declared && id !== turn?.id;
    const underWay = runs.filter(isUnderWay);
    for (const run of underWay) wait = Math.min(wait, await (await carrying(run)).step(run));
    if (turn !== undefined && underWay.length === 0) {
      const one = await carrying(turn);
      if (turn.state === 'queued') await one.begin();
      else wait = Math.min(wait, await one.step(turn));
      if (turn.state === 'queued') return 0;
    }
    for (const run of runs) {
      if (run !== turn && !underWay.includes(run) && run.state !== 'queued') wait = Math.min(wait, await (await carrying(run)).step(run));
    }
    return wait;
  }

  return {
    start(): void {
      if (!stopping.signal.aborted) return;
      stopping = new AbortController();
      waker = new AbortController();
      polling = poll();
    },
    /** A run was started, or is to go on: it is looked at now. */
    wake(): void {
      if (stopping.signal.aborted) return;
      waker.abort();
      waker = new AbortController();
    },
    /** Waits for what is under way, then gives the leases back. */
    async stop(): Promise<void> {
      stopping.abort();
      waker.abort();
      await polling;
      await Promise.all(owned.values());
    },
  };
}
