/** What the fleet screen shows: a line per outbox, and the databases they are in. */
import type { CONNECTION_ROLES } from '../connections';
import type { EngineKey, OutboxInfo, OutboxReading, Summary } from '../model';
import { SENTENCE_FACTS } from './verdicts';

/** An outbox without what only its own screen needs, which would be most of the response for two hundred outboxes. */
export interface FleetEntry {
  outbox: Omit<OutboxInfo, 'capabilities'>;
  /** Over the last hour; the last good one while the database is unreachable. */
  summary: Omit<Summary, 'byType'>;
  stale: OutboxReading['stale'];
  /** Not read since the console started, and no attempt has failed. */
  unread: boolean;
  /** What waited over the last 30 minutes, oldest first, or what was dead where that grows; null if unknown. */
  sparkline: (number | null)[];
  sparklineOf: 'waiting' | 'dead';
}

/** Values of a sparkline: depth once a minute. */
export const SPARKLINE_POINTS = 30;

/** An entry reduced to what the screen shows: a page sends two hundred of them twice, as data and as HTML. */
export type FleetLine = ReturnType<typeof fleetLine>;

const isTold = (code: string): boolean => (SENTENCE_FACTS as readonly string[]).includes(code);

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

export function fleetLine({ outbox, summary, stale, unread, sparkline, sparklineOf }: FleetEntry) {
  const { id, name, database, table, shape } = outbox;
  const { asOf, oldestPendingAt, lastPublishedAt, lastPublishedWhy, diagnosis, slot, depth, latency } = summary;
  const { verdict, since, evidence } = diagnosis;
  const { p95Ms, meanMs, meanErrorMs, known, why, atMostMs, errorShare } = latency;
  const first = sparkline.findIndex((value) => value !== null);
  return {
    outbox: { id, name, database, table, shape },
    summary: {
      asOf,
      oldestPendingAt,
      lastPublishedAt,
      // Left out if missing: undefined would be serialized as a word.
      ...(lastPublishedWhy && { lastPublishedWhy }),
      diagnosis: {
        verdict,
        since,
        evidence: evidence.filter((fact, index) => isTold(fact.code) || (verdict === 'cannot_see' && index === 0)),
      },
      slot,
      depth: { waiting: depth.waiting, dead: depth.dead },
      latency: {
        known,
        p95Ms: p95Ms === null ? null : rounded(p95Ms, 1),
        meanMs: meanMs === null ? null : rounded(meanMs, 1),
        ...(meanErrorMs !== undefined && { meanErrorMs: rounded(meanErrorMs, 1) }),
        ...(why && { why }),
        ...(atMostMs !== undefined && { atMostMs }),
        ...(errorShare !== undefined && { errorShare: rounded(errorShare, 3) }),
      },
    },
    stale,
    unread,
    /** The last SPARKLINE_POINTS minutes, oldest first, from the first known one. */
    sparkline: first === -1 ? [] : sparkline.slice(first),
    sparklineOf,
  };
}

/** Why a database is unreachable, judged by its error or its silence. */
export type UnreachableReason = 'refused' | 'silent' | 'login' | 'missing' | 'full' | 'network';

export interface FleetDatabase {
  id: string;
  engine: EngineKey;
  /** Server name and version, e.g. `PostgreSQL 18.3`; null before its first answer. */
  version: string | null;
  /** `unknown` before the first connection attempt. */
  state: 'unknown' | 'up' | 'down';
  /** Start of the current state, as far as this process knows; ISO 8601 UTC. */
  since: string;
  /** null unless it is down. */
  why: UnreachableReason | null;
  outboxes: number;
  /** Connections of this console by kind of work. `limit` is for all databases of the server together. */
  connections: Partial<Record<(typeof CONNECTION_ROLES)[number], { inUse: number; idle: number; waiting: number; limit: number }>>;
  server: { open: number; limit: number };
}

export interface FleetSnapshot {
  /** Time of the oldest figures that count as current. */
  asOf: string;
  /** Longest time between two readings of an outbox, in milliseconds, while none is slow or failing. */
  everyMs: number;
  /** Worst first. */
  entries: FleetEntry[];
  /** Unreachable ones first, then as configured. */
  databases: FleetDatabase[];
}
