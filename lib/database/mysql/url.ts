import fs from 'node:fs';
import type { ConnectionOptions, SslOptions } from 'mysql2';
import { Problem } from '@/lib/shared/problems';

/** How a connection is protected, weakest first, as the servers' own programs name it. */
const SSL_MODES = ['disabled', 'required', 'verify_ca', 'verify_identity'] as const;
type SslMode = (typeof SSL_MODES)[number];

const PARAMETERS = ['ssl-mode', 'ssl-ca', 'ssl-cert', 'ssl-key', 'socket'];

/** What PostgreSQL's users write. */
const SPELLINGS: Record<string, SslMode> = {
  disable: 'disabled',
  require: 'required',
  'verify-ca': 'verify_ca',
  'verify-full': 'verify_identity',
};

/**
 * Where and as whom to connect, from a `mysql://` or `mariadb://` URL. Only what is named here is taken from its query:
 * the driver would let one switch multiple statements on. Throws Problem `invalid` for anything else.
 */
export function connectionOptions(url: string): ConnectionOptions {
  const parsed = new URL(url);
  const query = new Map(
    [...parsed.searchParams].map(([name, value]) => [
      name
        .toLowerCase()
        .replaceAll('_', '-')
        .replace(/^sslmode$/, 'ssl-mode'),
      value,
    ]),
  );
  const foreign = [...query.keys()].filter((name) => !PARAMETERS.includes(name));
  if (foreign.length > 0)
    throw new Problem('invalid', `A MySQL connection string has no parameter ${foreign.join(', ')}; it may have ${PARAMETERS.join(', ')}`);
  const socket = query.get('socket');
  const ssl = sslOptions(query);
  const database = decodeURIComponent(parsed.pathname.slice(1));
  return {
    ...(socket === undefined
      ? { host: parsed.hostname.replace(/^\[|\]$/g, '') || 'localhost', port: parsed.port === '' ? 3306 : Number(parsed.port) }
      : { socketPath: socket }),
    user: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    ...(database === '' ? {} : { database }),
    ...(ssl === null ? {} : { ssl }),
  };
}

function sslOptions(query: Map<string, string>): SslOptions | null {
  const named = query.get('ssl-mode')?.toLowerCase();
  const mode = named === undefined ? (query.has('ssl-ca') ? 'verify_ca' : 'disabled') : (SPELLINGS[named] ?? named.replaceAll('-', '_'));
  if (!isMode(mode)) throw new Problem('invalid', `There is no ssl-mode ${JSON.stringify(named)}: use one of ${SSL_MODES.join(', ')}`);
  if (mode === 'disabled') return null;
  return {
    rejectUnauthorized: mode !== 'required',
    verifyIdentity: mode === 'verify_identity',
    ...fileOption(query, 'ssl-ca', 'ca'),
    ...fileOption(query, 'ssl-cert', 'cert'),
    ...fileOption(query, 'ssl-key', 'key'),
  };
}

const isMode = (text: string): text is SslMode => (SSL_MODES as readonly string[]).includes(text);

function fileOption(query: Map<string, string>, parameter: string, option: 'ca' | 'cert' | 'key'): SslOptions {
  const path = query.get(parameter);
  if (path === undefined) return {};
  try {
    return { [option]: fs.readFileSync(path, 'utf8') };
  } catch (error) {
    throw new Problem('invalid', `${parameter} names ${path}, which cannot be read`, { cause: error });
  }
}
