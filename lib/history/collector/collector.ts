import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { countByServer } from '@/lib/outbox/directory';
import type { CollectorStatus } from '@/lib/shared/figures/collection';
import { findCollectorStates } from '@/lib/store/collector-leases';
import { Queue } from '@/lib/shared/async/queue';
import { MINUTE, SECOND, DUTY_CYCLE } from './clock';
import { Keeper, type CollectorParts } from './keeper';
import { parseProgress, notBegun, statusOf } from './progress';
import type { Timing } from './session';

/** Outboxes read at the same time. */
const AT_ONCE = 4;
/** Seconds. */
const TIMING = { settle: 10, margin: 2, most: 60, lease: 15, recount: 60 };
/** All ticks on one server may take this share of the time of one connection. */
const SERVER_DUTY = 0.6;
const DAY = 1_440 * MINUTE;

export interface CollectorOptions extends CollectorParts {
  /** Milliseconds between ticks where they are cheap. */
  tickMs: number;
  /** How many days back the past is read when an outbox is collected for the first time. */
  retentionDays: number;
  /** For tests, which cannot wait for a minute: in seconds, `duty` as a share. */
  timing?: typeof TIMING & { duty: number };
}

export type Collector = ReturnType<typeof createCollector>;

/** Collects the history of every outbox whose lease this process gets; any number of processes share the work. */
export function createCollector(options: CollectorOptions) {
  const { directory, store, tickMs } = options;
  const { settle, margin, most, lease, recount } = options.timing ?? TIMING;
  const neighbours = countByServer(directory);
  const shared = {
    ...options,
    owner: `${hostname()} ${String(pid)} ${randomBytes(6).toString('hex')}`,
    turns: new Queue(AT_ONCE),
    blindTurns: new Queue(AT_ONCE),
  };
  const timingOf = (id: string): Timing => ({
    tickMs,
    leaseSeconds: lease,
    lags: { settle: settle * SECOND, margin: margin * SECOND, most: most * SECOND },
    // What is little for one outbox is too much for a server that has hundreds.
    duty: options.timing?.duty ?? Math.min(DUTY_CYCLE, SERVER_DUTY / neighbours(id)),
    recountEvery: recount * SECOND,
    retention: options.retentionDays * DAY,
  });
  const keepers = new Map(directory.ids.map((id) => [id, new Keeper(id, { ...shared, timing: timingOf(id) })]));
  const elsewhere = new Map<string, CollectorStatus>();
  let stopping = new AbortController();
  stopping.abort();
  let loops: Promise<void>[] = [];

  async function loop(round: () => Promise<number>): Promise<void> {
    const { signal } = stopping;
    // A loop per outbox waits on this one signal: more listeners than Node takes for a leak.
    setMaxListeners(0, signal);
    while (!signal.aborted) await sleep(await round(), undefined, { signal, ref: false }).catch(() => undefined);
  }

  /** Reads the status of outboxes that other replicas collect; returns the milliseconds until the next time. */
  async function readOthers(): Promise<number> {
    if ([...keepers.values()].some((keeper) => keeper.session === null)) {
      const states = await findCollectorStates(store.db, directory.ids).catch(() => null);
      for (const [id, { state }] of states ?? []) {
        const progress = parseProgress(state);
        if (progress !== null) elsewhere.set(id, statusOf(progress));
      }
    }
    return tickMs;
  }

  return {
    start(): void {
      if (!stopping.signal.aborted) return;
      stopping = new AbortController();
      loops = [...[...keepers.values()].map((keeper) => loop(() => keeper.round())), loop(readOthers)];
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(loops);
      await Promise.all([...keepers.values()].map((keeper) => keeper.release()));
    },
    /** Operators act on the outbox: it is heeded at once if this process collects it, otherwise within a third of a lease. */
    acted: (id: string): void => keepers.get(id)?.renew(),
    /** The status of an outbox, collected here or by another replica. */
    status(id: string): CollectorStatus {
      const keeper = keepers.get(id);
      const progress = keeper?.session?.progress ?? null;
      if (progress !== null) return statusOf({ ...progress, blind: keeper?.blind ?? false });
      return elsewhere.get(id) ?? notBegun(tickMs, keeper?.blind ?? false);
    },
  };
}
