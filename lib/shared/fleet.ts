/** What the fleet screen shows: of each outbox its line, and the databases they are in. */
import type { CONNECTION_ROLES } from './connections';
import type { EngineKey, OutboxInfo, StaleProblem, Summary } from './model';

/** An outbox without what only its own screen needs: with two hundred of them that is most of the answer. */
export interface FleetEntry {
  outbox: Omit<OutboxInfo, 'capabilities'> & {
    /** Whether its table says when events were published. */
    tellsPublished: boolean;
  };
  /** Over the last hour; the last good ones while the source is down. */
  summary: Omit<Summary, 'byType'>;
  /** The last good reading is older than this one asked for: since when, and what failed. */
  stale: { since: string; problem: StaleProblem } | null;
  /** It has not been read since the console started, and nothing has failed yet. */
  unread: boolean;
  /** Depth of the last 30 minutes, oldest first; null where unknown. */
  sparkline: (number | null)[];
}

/** Why a database is away, as far as its answer, or silence, tells. */
export type AwayReason = 'refused' | 'silent' | 'login' | 'missing' | 'full' | 'network';

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
  why: AwayReason | null;
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
