/** What the fleet screen shows: of each outbox its line, and the databases they are in. */
import type { CONNECTION_ROLES } from '../connections';
import type { Percentiles } from './measured';
import type { EngineKey, OutboxInfo, OutboxReading, Summary } from '../model';
import { SENTENCE_FACTS } from './verdicts';

/** An outbox without what only its own screen needs: with two hundred of them that is most of the answer. */
export interface FleetEntry {
  outbox: Omit<OutboxInfo, 'capabilities'> & {
    /** Whether its table says when events were published. */
    tellsPublished: boolean;
  };
  /** Over the last hour; the last good ones while the source is down. */
  summary: Omit<Summary, 'byType'>;
  stale: OutboxReading['stale'];
  /** It has not been read since the console started, and nothing has failed yet. */
  unread: boolean;
  /** Depth of the last 30 minutes, oldest first; null where unknown. */
  sparkline: (number | null)[];
}

/** How many values a sparkline has: depth once a minute. */
export const SPARKLINE_POINTS = 30;

/** An entry as the screen shows it: two hundred of them travel with the page, once as they are read and once as they are drawn. */
export interface FleetLine {
  outbox: Pick<FleetEntry['outbox'], 'id' | 'name' | 'database' | 'table' | 'shape' | 'tellsPublished'>;
  summary: Pick<Summary, 'asOf' | 'oldestPendingAt' | 'lastPublishedAt' | 'diagnosis' | 'slot'> & {
    depth: Pick<Summary['depth'], 'waiting' | 'dead'>;
    latency: Omit<Percentiles, 'p50Ms' | 'p99Ms'>;
  };
  stale: FleetEntry['stale'];
  unread: boolean;
  /** The last SPARKLINE_POINTS minutes, oldest first, from the first one that is known. */
  sparkline: (number | null)[];
}

const isTold = (code: string): boolean => (SENTENCE_FACTS as readonly string[]).includes(code);

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

/** What the screen shows of an entry. */
export function fleetLine({ outbox, summary, stale, unread, sparkline }: FleetEntry): FleetLine {
  const { id, name, database, table, shape, tellsPublished } = outbox;
  const { asOf, oldestPendingAt, lastPublishedAt, diagnosis, slot, depth, latency } = summary;
  const { verdict, evidence } = diagnosis;
  const { p95Ms, known, why, atMostMs, errorShare } = latency;
  const first = sparkline.findIndex((value) => value !== null);
  return {
    outbox: { id, name, database, table, shape, tellsPublished },
    summary: {
      asOf,
      oldestPendingAt,
      lastPublishedAt,
      diagnosis: {
        ...diagnosis,
        evidence: evidence.filter((fact, index) => isTold(fact.code) || (verdict === 'cannot_see' && index === 0)),
      },
      slot,
      depth: { waiting: depth.waiting, dead: depth.dead },
      latency: {
        known,
        p95Ms: p95Ms === null ? null : rounded(p95Ms, 1),
        // What is not there is left out: undefined would travel as a word.
        ...(why && { why }),
        ...(atMostMs !== undefined && { atMostMs }),
        ...(errorShare !== undefined && { errorShare: rounded(errorShare, 3) }),
      },
    },
    stale,
    unread,
    sparkline: first === -1 ? [] : sparkline.slice(first),
  };
}

/** Why a database is away, as far as its answer, or silence, tells. */
export type UnreachableReason = 'refused' | 'silent' | 'login' | 'missing' | 'full' | 'network';

export interface FleetDatabase {
  id: string;
  engine: EngineKey;
  /** The server and its version, e.g. `PostgreSQL 18.3`; null before it has answered. */
  version: string | null;
  /** `unknown` before anybody has asked it for anything. */
  state: 'unknown' | 'up' | 'down';
  /** Since when it has been so, as far as this process knows; ISO 8601 UTC. */
  since: string;
  /** null unless it is down. */
  why: UnreachableReason | null;
  outboxes: number;
  /** Connections of this console by kind of work. `limit` is what all databases of the server may have together. */
  connections: Partial<Record<(typeof CONNECTION_ROLES)[number], { inUse: number; idle: number; waiting: number; limit: number }>>;
  /** Over all databases of its server. */
  server: { open: number; limit: number };
}

export interface FleetSnapshot {
  /** Of the oldest figures that count as of now. */
  asOf: string;
  /** Milliseconds between two readings of those that are read least often, while all is well. */
  everyMs: number;
  /** Worst first. */
  entries: FleetEntry[];
  /** Those that are away first, then as configured. */
  databases: FleetDatabase[];
}
