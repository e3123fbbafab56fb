/** Connection limits per database server: all pools to databases of one server share its limit. */
import { CONNECTION_ROLES, CONNECTIONS_PER_SERVER, SCHEMES, type ConnectionRole } from '@/lib/shared/connections';
import type { DatabaseFailure } from '../failure';
import { Availability, type AvailabilityState } from './availability';
import { Share, type Lane, type LaneCounts, type LaneOptions, type Source } from './share';

export interface Connections {
  state: AvailabilityState;
  /** Milliseconds since the epoch. */
  since: number;
  failure: DatabaseFailure | null;
  roles: Partial<Record<ConnectionRole, LaneCounts & { limit: number }>>;
  /** Connections of this console to all databases of the server, and their limit; `key` is host and port. */
  server: { key: string; open: number; limit: number };
}

export type Servers = ReturnType<typeof createServers>;

interface Entry {
  server: ReturnType<typeof newServer>;
  availability: Availability;
  lanes: { role: ConnectionRole; counts: () => LaneCounts }[];
}

/** With fewer connections per server, content reads share the reader's. */
const CONTENT_FROM = 8;

/** At least one connection for each kind of work and about half for reading; content gets one, or 0 if it shares the reader's. */
export function connectionLimits(perServer: number): Record<ConnectionRole, number> {
  const operator = Math.max(1, Math.floor(perServer / 6));
  const collector = Math.max(1, Math.floor(perServer / 3));
  const content = perServer < CONTENT_FROM ? 0 : 1;
  return { reader: perServer - operator - collector - content, content, collector, operator };
}

function newServer(key: string, limits: Record<ConnectionRole, number>) {
  const reader = new Share(limits.reader);
  const content = limits.content === 0 ? reader : new Share(limits.content);
  return { key, shares: { reader, content, collector: new Share(limits.collector), operator: new Share(limits.operator) } };
}

type Work = { database: string; url: string; role: ConnectionRole };

/** Opens no connection. */
export function createServers(perServer: number = CONNECTIONS_PER_SERVER) {
  const servers = new Map<string, Entry['server']>();
  const entries = new Map<string, Entry>();

  return {
    lane<C extends object>(work: Work, source: Source<C>, options: Omit<LaneOptions, 'availability'>): Lane<C> {
      const { database, url, role } = work;
      const key = serverKey(url);
      const server = servers.get(key) ?? newServer(key, connectionLimits(perServer));
      servers.set(key, server);
      const entry = entries.get(database) ?? { server, availability: new Availability(), lanes: [] };
      entries.set(database, entry);
      // An operator's change always tries to connect, even right after another caller failed.
      const lane = server.shares[role].lane(source, { ...options, availability: role === 'operator' ? null : entry.availability });
      entry.lanes.push({ role, counts: () => lane.counts });
      return lane;
    },
    /** null if the database has not been opened. */
    connections(database: string): Connections | null {
      const entry = entries.get(database);
      if (entry === undefined) return null;
      const { server, lanes } = entry;
      const { state, since, failure } = entry.availability;
      const roles: Connections['roles'] = {};
      for (const { role, counts } of lanes) {
        const sum = (roles[role] ??= { inUse: 0, idle: 0, waiting: 0, limit: server.shares[role].limit });
        for (const [name, count] of Object.entries(counts())) sum[name as keyof LaneCounts] += count;
      }
      const open = [...new Set(CONNECTION_ROLES.map((role) => server.shares[role]))].reduce((sum, share) => sum + share.open, 0);
      return { state, since, failure, roles, server: { key: server.key, open, limit: perServer } };
    },
  };
}

/** Host and port; the socket's folder if there is no host. */
function serverKey(url: string): string {
  const { protocol, hostname, port, searchParams } = new URL(url);
  const host = hostname === '' ? (searchParams.get('host') ?? '') : hostname;
  return `${host.toLowerCase()}:${port === '' ? (SCHEMES[protocol]?.port ?? '') : port}`;
}
