import type { EngineKey } from './model';

/** Kinds of work with connections of their own, so that none waits for another. */
export const CONNECTION_ROLES = ['reader', 'content', 'collector', 'operator'] as const;
export type ConnectionRole = (typeof CONNECTION_ROLES)[number];

/** Connections to each server when the configuration does not say. A PostgreSQL server allows a hundred for everybody. */
export const CONNECTIONS_PER_SERVER = 24;
/** One for each kind of work; with so few, content is read over the connection of the other readings. */
export const CONNECTIONS_PER_SERVER_MIN = CONNECTION_ROLES.length - 1;

/** The schemes of connection strings: the engine that speaks each, and its port where none is written. */
export const SCHEMES: Readonly<Record<string, { engine: EngineKey; port: string }>> = {
  'postgres:': { engine: 'postgres', port: '5432' },
  'postgresql:': { engine: 'postgres', port: '5432' },
  'mysql:': { engine: 'mysql', port: '3306' },
  'mariadb:': { engine: 'mysql', port: '3306' },
};
