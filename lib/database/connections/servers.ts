/** Connection limits per database server: all pools to databases of one server share its limit. */
import { CONNECTION_ROLES, CONNECTIONS_PER_SERVER, SCHEMES, type ConnectionRole } from '@/lib/shared/connections';
import type { DatabaseFailure } from '../failure';
import { Availability, type AvailabilityState } from './availability';
import { Share, type Lane, type LaneCounts, type LaneOptions, type Source } from './share';

export interface RoleConnections extends LaneCounts {
  limit: number;
}

export interface Connections {
  state: AvailabilityState;
  /** Milliseconds since the epoch. */
  since: number;
  failure: DatabaseFailure | null;
  roles: Partial<Record<ConnectionRole, RoleConnections>>;
  /** Connections of this console to all databases of the server, and their limit; `key` is host and port. */
  server: { key: string; open: number; limit: number };
}

export type Servers = ReturnType<typeof createServers>;

interface Server {
  key: string;
  shares: Record<ConnectionRole, Share>;
}

interface Entry {
  server: Server;
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

/** Opens no connection. */
export function createServers(perServer: number = CONNECTIONS_PER_SERVER) {
  const servers = new Map<string, Server>();
  const entries = new Map<string, Entry>();
  const limits = connectionLimits(perServer);

  function shares(): Server['shares'] {
    const reader = new Share(limits.reader);
    const content = limits.content === 0 ? reader : new Share(limits.content);
    return { reader, content, collector: new Share(limits.collector), operator: new Share(limits.operator) };
  }

  function serverOf(url: string): Server {
    const key = serverKey(url);
    const found = servers.get(key) ?? { key, shares: shares() };
    servers.set(key, found);
    return found;
  }

  return {
    lane<C extends object>(
      { database, url, role }: { database: string; url: string; role: ConnectionRole },
      source: Source<C>,
      options: Omit<LaneOptions, 'availability'>,
    ): Lane<C> {
      const server = serverOf(url);
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
      const { availability, server, lanes } = entry;
      const roles: Connections['roles'] = {};
      for (const { role, counts } of lanes) {
        const { inUse, idle, waiting } = counts();
        const before = roles[role];
        roles[role] = {
          inUse: inUse + (before?.inUse ?? 0),
          idle: idle + (before?.idle ?? 0),
          waiting: waiting + (before?.waiting ?? 0),
          limit: server.shares[role].limit,
        };
      }
      const open = [...new Set(CONNECTION_ROLES.map((role) => server.shares[role]))].reduce((sum, share) => sum + share.open, 0);
      return {
        state: availability.state,
        since: availability.since,
        failure: availability.failure,
        roles,
        server: { key: server.key, open, limit: perServer },
      };
    },
  };
}

/** Host and port; the socket's folder if there is no host. */
function serverKey(url: string): string {
  const { protocol, hostname, port, searchParams } = new URL(url);
  const host = hostname === '' ? (searchParams.get('host') ?? '') : hostname;
  return `${host.toLowerCase()}:${port === '' ? (SCHEMES[protocol]?.port ?? '') : port}`;
}
