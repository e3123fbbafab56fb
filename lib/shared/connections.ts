import type { EngineKey } from './model';

/** Kinds of work with connections of their own, so that none waits for another. */
export const CONNECTION_ROLES = ['reader', 'content', 'collector', 'operator'] as const;
export type ConnectionRole = (typeof CONNECTION_ROLES)[number];

/** Connections per server by default. PostgreSQL's default limit is a hundred for all clients. */
export const CONNECTIONS_PER_SERVER = 24;
/** One for each kind of work; content then shares the reader's connections. */
export const CONNECTIONS_PER_SERVER_MIN = CONNECTION_ROLES.length - 1;

export const SCHEMES: Readonly<Record<string, { engine: EngineKey; port: string }>> = {
  'postgres:': { engine: 'postgres', port: '5432' },
  'postgresql:': { engine: 'postgres', port: '5432' },
  'mysql:': { engine: 'mysql', port: '3306' },
  'mariadb:': { engine: 'mysql', port: '3306' },
};
