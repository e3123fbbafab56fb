import { SCHEMES } from '@/lib/shared/connections';
import type { EngineKey } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { Engine } from './engine';
import { mysqlEngine } from './mysql/engine';
import { postgresEngine } from './postgres/engine';

const ENGINES: Record<EngineKey, Engine> = { postgres: postgresEngine, mysql: mysqlEngine };

/** The engine that speaks to this URL. Throws Problem `invalid` for a scheme no engine knows. */
export function engineForUrl(url: string): Engine {
  const scheme = /^[a-z0-9+]+:/.exec(url)?.[0] ?? '';
  const spoken = SCHEMES[scheme];
  const known = Object.keys(SCHEMES).join(', ');
  if (spoken === undefined) throw new Problem('invalid', `No engine speaks ${scheme || 'this URL'}; use one of ${known}`);
  return ENGINES[spoken.engine];
}

/** The oldest servers that know every statement of the console, by what `Engine.version` calls them. */
const NEEDED: Record<string, readonly number[]> = { PostgreSQL: [16], MySQL: [8, 0, 16], MariaDB: [10, 6] };

/**
 * Refused statements that an older server may not have known: syntax, function, catalogue table, variable. Any server says the same
 * of a mapping that does not fit: `text = integer` is an operator that does not exist.
 */
const UNKNOWN = new Set(['42601', '42883', '1064', '1109', '1193', '1305']);

/** What an older server has to be at least, for example `PostgreSQL 16`; null where it is, and where nobody knows it. */
export function neededServer(server: string): string | null {
  const [, name = '', number = ''] = /^(\w+) (\d+(?:\.\d+)*)/.exec(server) ?? [];
  const needed = NEEDED[name];
  if (needed === undefined) return null;
  const parts = number.split('.').map(Number);
  const differs = needed.findIndex((part, at) => (parts[at] ?? 0) !== part);
  return differs < 0 || (parts[differs] ?? 0) > (needed[differs] ?? 0) ? null : `${name} ${needed.join('.')}`;
}

/** What a server is and would have to be, where it may have refused a statement with this state for being too old to know it; null otherwise. */
export function tooOld(server: string | null, state: string | null): string | null {
  const needed = server === null || state === null || !UNKNOWN.has(state) ? null : neededServer(server);
  return needed === null ? null : `this server is ${server ?? ''}, and the console needs ${needed} or newer`;
}
