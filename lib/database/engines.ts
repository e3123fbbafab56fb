import { Problem } from '@/lib/shared/problems';
import type { Engine } from './engine';
import { mysqlEngine } from './mysql/engine';
import { postgresEngine } from './postgres/engine';

const BY_SCHEME: Record<string, Engine> = {
  'postgres:': postgresEngine,
  'postgresql:': postgresEngine,
  'mysql:': mysqlEngine,
  'mariadb:': mysqlEngine,
};

/** URL schemes the console can open, e.g. `postgres:`. */
export const URL_SCHEMES: readonly string[] = Object.keys(BY_SCHEME);

/** The engine that speaks to this URL. Throws Problem `invalid` for a scheme no engine knows. */
export function engineForUrl(url: string): Engine {
  const scheme = /^[a-z0-9+]+:/.exec(url)?.[0] ?? '';
  const engine = BY_SCHEME[scheme];
  if (engine === undefined) throw new Problem('invalid', `No engine speaks ${scheme || 'this URL'}; use one of ${URL_SCHEMES.join(', ')}`);
  return engine;
}
