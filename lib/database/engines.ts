import { SCHEMES } from '@/lib/shared/connections';
import type { EngineKey } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { Engine } from './engine';
import { mysqlEngine } from './mysql/engine';
import { postgresEngine } from './postgres/engine';

const ENGINES: Record<EngineKey, Engine> = { postgres: postgresEngine, mysql: mysqlEngine };

/** The engine for this URL. Throws Problem `invalid` for an unknown scheme. */
export function engineForUrl(url: string): Engine {
  const scheme = /^[a-z0-9+]+:/.exec(url)?.[0] ?? '';
  const spoken = SCHEMES[scheme];
  const known = Object.keys(SCHEMES).join(', ');
  if (spoken === undefined) throw new Problem('invalid', `No engine speaks ${scheme || 'this URL'}; use one of ${known}`);
  return ENGINES[spoken.engine];
}

/** Oldest server versions that support every statement of the console, by the name in `Engine.version`. */
const NEEDED: Record<string, readonly number[]> = { PostgreSQL: [16], MySQL: [8, 0, 16], MariaDB: [10, 6] };

/**
 * Error codes of an old server for what it does not support: syntax, function, catalogue table, variable. Current servers return them too,
 * for a mapping that does not fit: `text = integer` is an operator that does not exist.
 */
const UNKNOWN = new Set(['42601', '42883', '1064', '1109', '1193', '1305']);

/** The oldest supported version, e.g. `PostgreSQL 16`, if this server is older; null if it is not, or is unknown. */
export function neededServer(server: string): string | null {
  const [, name = '', number = ''] = /^(\w+) (\d+(?:\.\d+)*)/.exec(server) ?? [];
  const needed = NEEDED[name];
  if (needed === undefined) return null;
  const parts = number.split('.').map(Number);
  const differs = needed.findIndex((part, at) => (parts[at] ?? 0) !== part);
  return differs < 0 || (parts[differs] ?? 0) > (needed[differs] ?? 0) ? null : `${name} ${needed.join('.')}`;
}

/** A sentence with the server's version and the one needed, if it is too old and this error may come from that; null otherwise. */
export function tooOld(server: string | null, state: string | null): string | null {
  const needed = server === null || state === null || !UNKNOWN.has(state) ? null : neededServer(server);
  return needed === null ? null : `this server is ${server ?? ''}, and the console needs ${needed} or newer`;
}
