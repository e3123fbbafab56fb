/** Per shape of record: its live relay with short intervals, and events that keep every operation supplied. */
import { createRandom, type Random } from '@/demo/random';
import { startRelay as startCourier } from '@/demo/relays/courier-status';
import { startRelay as startEscrow } from '@/demo/relays/escrow-status';
import { startRelay as startListen } from '@/demo/relays/listen-notify';
import { startRelay as startPublishedAt } from '@/demo/relays/published-at';
import type { Relay, RelayOptions } from '@/demo/relays/relay';
import { startRelay as startWorker } from '@/demo/relays/worker-status';
import { courierStatusTable } from '@/demo/schema/courier-status';
import { escrowStatusTable } from '@/demo/schema/escrow-status';
import { listenNotifyTable } from '@/demo/schema/listen-notify';
import { publishedAtTable } from '@/demo/schema/published-at';
import type { OutboxTable, StoryEvent } from '@/demo/schema/table';
import { workerStatusTable } from '@/demo/schema/worker-status';
import type { FaultRule } from '@/demo/sink/protocol';
import type { EngineKey } from '@/lib/shared/model';
import type { State } from '@/lib/shared/states';
import type { Image } from './witness';

/** What becomes of an event at the sink: how often it is turned down before it passes; undefined: at once. */
type Fate = Pick<FaultRule, 'mode' | 'times'> | undefined;

export interface Contender {
  key: string;
  engine: EngineKey;
  table: OutboxTable;
  parameters: { maxAttempts?: number; stuckAfterSeconds: number };
  /** Operations the shape offers, and the states each is tried on: those it is for, and some it is not for. */
  operations: Record<string, State[]>;
  /** Kills and restarts the relay this often, in milliseconds, so that rows get stuck in its hands. */
  killEveryMs?: number;
  start(options: RelayOptions): Relay;
  event(random: Random): Partial<StoryEvent>;
  fate(random: Random): Fate;
}

const fails = (times?: number): Fate => ({ mode: 'error', ...(times === undefined ? {} : { times }) });

/** The one that is at home on the other engine races on both. */
const workerOn = (engine: EngineKey): Contender => ({
  key: 'worker-status',
  engine,
  table: workerStatusTable(true, engine),
  parameters: { stuckAfterSeconds: 1 },
  operations: { release: ['processing', 'pending'], archive: ['pending', 'processing', 'published'], restore: ['archived'] },
  killEveryMs: 250,
  // No judge could tell what the recovery job sends twice from what an operator's release does.
  start: (options) => startWorker({ ...options, intervalMs: 15, recoverEveryMs: null }),
  event: (random) => ({ type: random.pick(['order.created', 'order.paid']) }),
  fate: (random) => (random.chance(0.6) ? fails(random.int(3, 40)) : undefined),
});

export const CONTENDERS: Contender[] = [
  {
    key: 'escrow-status',
    engine: 'postgres',
    table: escrowStatusTable,
    parameters: { maxAttempts: 5, stuckAfterSeconds: 1 },
    operations: {
      retry: ['dead', 'retrying', 'published'],
      requeue: ['dead', 'retrying'],
      release: ['processing'],
      archive: ['dead', 'pending', 'retrying', 'processing'],
      restore: ['archived', 'dead'],
    },
    start: (options) => startEscrow({ ...options, intervalMs: 15, maxAttempts: 5 }),
    event: (random) =>
      random.chance(0.3)
        ? { type: 'order_complete', payload: { releaseTo: random.chance(0.8) ? null : 'seller-1' } }
        : { type: random.pick(['order_create', 'ad_create', 'ad_update']), payload: {} },
    fate: (random) => (random.chance(0.7) ? fails(random.int(5, 9)) : undefined),
  },
  workerOn('mysql'),
  workerOn('postgres'),
  {
    key: 'published-at',
    engine: 'postgres',
    table: publishedAtTable,
    parameters: { maxAttempts: 3, stuckAfterSeconds: 1 },
    operations: {
      retry: ['dead', 'retrying'],
      requeue: ['dead', 'retrying', 'published'],
      archive: ['dead', 'pending', 'retrying'],
      restore: ['archived'],
    },
    start: (options) => startPublishedAt({ ...options, idleMs: 15, batch: 20, maxAttempts: 3 }),
    event: () => ({}),
    fate: (random) => (random.chance(0.75) ? fails(random.int(3, 7)) : undefined),
  },
  {
    key: 'courier-status',
    engine: 'postgres',
    table: courierStatusTable,
    parameters: { stuckAfterSeconds: 1 },
    operations: { archive: ['pending', 'published'], restore: ['archived'] },
    start: (options) => startCourier({ ...options, intervalMs: 15 }),
    event: () => ({}),
    fate: (random) => (random.chance(0.6) ? fails(random.int(10, 60)) : undefined),
  },
  {
    key: 'listen-notify',
    engine: 'postgres',
    table: listenNotifyTable,
    parameters: { maxAttempts: 5, stuckAfterSeconds: 1 },
    operations: {
      retry: ['dead', 'retrying', 'pending'],
      requeue: ['dead', 'retrying'],
      archive: ['dead', 'pending', 'retrying'],
      restore: ['archived'],
    },
    start: (options) => startListen({ ...options, handles: ['order.created', 'order.paid'] }),
    event: (random) => ({ type: random.pick(['order.created', 'order.paid', 'email.digest']) }),
    fate: (random) => (random.chance(0.85) ? fails(random.int(4, 12)) : undefined),
  },
];

export const raceRandom = (key: string): Random => createRandom(`race ${key}`);

/** The state of a row of the outbox table, by hand, for the tables of all contenders. */
export function stateOf(row: Image): string {
  const status = row.status?.toLowerCase();
  if (status === 'failed') return 'dead';
  if (status === 'processing') return 'processing';
  if (status === 'processed' || (status === undefined && (row.published_at ?? row.processed_at ?? null) !== null)) return 'published';
  return Number(row.retry_count ?? row.attempts ?? row.attempt ?? 0) > 0 ? 'retrying' : 'pending';
}

export const isPublished = (row: Image): boolean => stateOf(row) === 'published';
