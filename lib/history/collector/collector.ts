import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OutboxDirectory, countByServer } from '@/lib/outbox/directory';
import type { CollectorStatus } from '@/lib/shared/figures/collection';
import { readCollectorStates } from '@/lib/store/collector-leases';
import type { Store } from '@/lib/store/store';
import { Queue } from '@/lib/shared/async/queue';
import type { DepthNow } from './collect';
import { MINUTE, SECOND, DUTY_CYCLE } from './clock';
import { Keeper, type KeeperOptions } from './keeper';
import type { Observer } from './observers/observer';
import { parseProgress, notBegun, statusOf } from './progress';

/** Outboxes read in the same moment. */
const AT_ONCE = 4;
const LEASE_SECONDS = 15;
const RECOUNT_SECONDS = 60;
/** All ticks on one server may take this share of the time of one connection. */
const SERVER_DUTY = 0.6;
const DAY = 1_440 * MINUTE;

export interface CollectorOptions {
  /** Of the collector's own connections: its ticks never wait for a screen's. */
  directory: OutboxDirectory;
  store: Store;
  observers: readonly Observer[];
  /** Milliseconds between ticks where they are cheap. */
  tickMs: number;
  /** How many days back the past is read when an outbox is collected for the first time. */
  retentionDays: number;
  depthNow(outbox: string): Promise<DepthNow | null>;
  /** Called with what went wrong, once per kind of failure in a row; the next tick tries again. */
  onError(outbox: string, error: unknown): void;
  /** For tests, which have no minute to wait: seconds, and a share. */
  timing?: { settle: number; margin: number; most: number; lease: number; recount: number; duty: number };
}

export interface Collector {
  start(): void;
  /** Gives the leases back once what is under way has ended. */
  stop(): Promise<void>;
  /** What is done about an outbox, here or by another replica. */
  status(outbox: string): CollectorStatus;
}

/** Collects the history of every outbox whose lease this process gets; any number of processes share the work. */
export function createCollector(options: CollectorOptions): Collector {
  const { directory, store, tickMs } = options;
  const timing = options.timing ?? { settle: 10, margin: 2, most: 60, lease: LEASE_SECONDS, recount: RECOUNT_SECONDS, duty: DUTY_CYCLE };
  const shared: KeeperOptions = {
    ...options,
    owner: `${hostname()} ${String(pid)} ${randomBytes(6).toString('hex')}`,
    turns: new Queue(AT_ONCE),
    blindTurns: new Queue(AT_ONCE),
    leaseSeconds: timing.lease,
    duty: timing.duty,
    recountEvery: timing.recount * SECOND,
    lags: { settle: timing.settle * SECOND, margin: timing.margin * SECOND, most: timing.most * SECOND },
    retention: options.retentionDays * DAY,
  };
  const neighbours = countByServer(directory);
  // What is little for one outbox would be too much of a server that has hundreds.
  const dutyOf = (id: string): number => options.timing?.duty ?? Math.min(DUTY_CYCLE, SERVER_DUTY / neighbours(id));
  const keepers = new Map(directory.ids.map((id) => [id, new Keeper(id, { ...shared, duty: dutyOf(id) })]));
  const elsewhere = new Map<string, CollectorStatus>();
  let stopping = new AbortController();
  stopping.abort();
  let loops: Promise<void>[] = [];

  async function loop(round: () => Promise<number>): Promise<void> {
    const { signal } = stopping;
    while (!signal.aborted) await sleep(await round(), undefined, { signal, ref: false }).catch(() => undefined);
  }

  /** What other replicas do, for the outboxes that are theirs. */
  async function readOthers(): Promise<number> {
    if ([...keepers.values()].some((keeper) => keeper.session === null)) {
      const states = await readCollectorStates(store.db).catch(() => null);
      for (const [id, { state }] of states ?? []) {
        const progress = parseProgress(state);
        if (progress !== null) elsewhere.set(id, statusOf(progress));
      }
    }
    return tickMs;
  }

  return {
    start() {
      if (!stopping.signal.aborted) return;
      stopping = new AbortController();
      loops = [...keepers.values()].map((keeper) => loop(() => keeper.round()));
      loops.push(loop(readOthers));
    },
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      await Promise.all([...keepers.values()].map((keeper) => keeper.release()));
    },
    status(id) {
      const keeper = keepers.get(id);
      const progress = keeper?.session?.progress ?? null;
      if (progress !== null) return statusOf({ ...progress, blind: keeper?.blind ?? false });
      return elsewhere.get(id) ?? notBegun(tickMs, keeper?.blind ?? false);
    },
  };
}
