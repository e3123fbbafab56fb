/** Readings made by hand for the tests of verdicts: what a statement would have answered, figure by figure. */
import { diagnose } from '../judge/diagnose';
import type { Past, Reading } from '@/lib/live/reading';
import { bucketOf } from '@/lib/rollup/histogram';
import { ALL_TYPES } from '@/lib/rollup/series-key';
import { emptyCell } from '@/lib/rollup/cell';
import { noFigures } from '@/lib/figures/summarise';
import type { Traits } from '@/lib/outbox/scan/traits';
import type { Circumstances, RecentHistory } from '../evidence/circumstances';
import type { Diagnosis } from '@/lib/shared/figures/verdicts';

export const NOW = Date.parse('2026-01-01T12:00:00Z');
export const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();

export const TRAITS: Traits = {
  cannotShow: { pending: null, retrying: null, processing: null, published: null, dead: null, archived: null },
  createdAt: true,
  publishedAt: true,
  publishedState: true,
  claimTime: true,
  attempts: true,
  countsClaims: true,
  deathTime: true,
  resolutionMs: { latency: 0.001, processing: 0.001 },
  stuckAfterSeconds: 300,
  keepsOrder: false,
  slots: null,
  tables: [],
};

export interface Given {
  traits?: Partial<Traits>;
  reach?: Partial<Reading['reach']>;
  relay?: Record<string, unknown>;
  lastPublishedAt?: string | null;
  /** How long the events published of late took, 400 ms when left out; null where that is not known. */
  usualMs?: number | null;
  stuck?: Record<string, unknown>;
  dead?: Record<string, unknown>;
  broker?: Record<string, unknown>;
  poison?: Record<string, unknown>;
  starved?: Record<string, unknown>;
  handler?: unknown[];
  key?: unknown;
  behind?: Record<string, unknown>;
  hidden?: boolean;
}

export function reading(given: Given = {}, secondsAgo = 0): Reading {
  return {
    asOf: ago(secondsAgo),
    foldedTo: ago(12),
    traits: { ...TRAITS, ...given.traits },
    reach: { waiting: 'complete', processing: 'complete', dead: 'complete', published: 'complete', ...given.reach },
    ordered: { waiting: false, processing: false, dead: false, published: false },
    rowsRead: 0,
    figures: {
      'last-published': { at: given.lastPublishedAt === undefined ? ago(2) : given.lastPublishedAt },
      relay_stopped: { due: 0, firstDue: null, frontier: ago(3), recent: 500, pending: 0, oldest: null, ...given.relay },
      broker_refusing: {
        count: 0,
        types: 0,
        first: null,
        last: null,
        lately: 0,
        latelyTypes: 0,
        latelyPublished: 5,
        error: null,
        ...given.broker,
      },
      poison_row: { head: null, most: null, endless: 0, endlessFirst: null, ...given.poison },
      starved: { ahead: 0, since: null, freshOut: null, type: null, error: null, ...given.starved },
      no_handler: { types: given.handler ?? null },
      blocked_on_key: { key: given.key ?? null },
      falling_behind: { waiting: 0, oldestFresh: null, lately: 20, ...given.behind },
      cannot_see: { hidden: given.hidden ?? false },
      stuck_processing: { stuck: 0, oldest: null, type: null, ...given.stuck },
      dead_growing: { recent: 0, first: null, dead: 0, cause: null, newest: [ago(5), ago(20)], ...given.dead },
    },
    deadDetailed: true,
    types: [],
    slices: { created: new Map(), died: new Map(), claimed: new Map() },
    tail: given.usualMs === null ? new Map() : tailOf(given.usualMs ?? 400, secondsAgo),
  };
}

/** One event that went out a minute ago. */
const tailOf = (latencyMs: number, secondsAgo: number): Reading['tail'] =>
  new Map([
    [
      Math.floor((NOW - secondsAgo * 1_000) / 60_000) - 1,
      new Map([[ALL_TYPES, { ...emptyCell(), published: 1, latency: new Map([[bucketOf(latencyMs), 1]]) }]]),
    ],
  ]);

export function judge(given: Given, previous: Past[] = [], more: Partial<Circumstances> = {}): Diagnosis {
  const now = reading(given);
  return diagnose({
    reading: now,
    figures: noFigures('1h', now.asOf, 'no_events'),
    failure: null,
    previous,
    history: null,
    now: NOW,
    ...more,
  });
}

/** An hour in which an event went out every two seconds, each after `p50Ms`. */
export function historyOf(p50Ms: number, typesPublished: string[] = [], publishedPerMinute = 30): RecentHistory {
  const minutes = Array.from({ length: 60 }, (_, index) => ({
    atMs: NOW - (60 - index) * 60_000,
    cell: { ...emptyCell(), minutes: 1, published: publishedPerMinute, latency: new Map([[bucketOf(p50Ms), publishedPerMinute]]) },
    provisional: false,
  }));
  return { minutes, byType: new Map(), typesPublished: new Set(typesPublished), watchedSinceMs: NOW - 86_400_000 };
}

/** The readings before, as often as a screen takes them, all saying the same. */
export const before = (given: Given, seconds: readonly number[] = [20, 15, 10, 5]): Reading[] => seconds.map((at) => reading(given, at));
