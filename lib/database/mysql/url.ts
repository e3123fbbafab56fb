import fs from 'node:fs';
import type { ConnectionOptions, SslOptions } from 'mysql2';
import { mysqlParameters, type MysqlParameters } from '@/lib/shared/mysql-url';
import { Problem } from '@/lib/shared/problems';

/** Options from a `mysql://` or `mariadb://` URL. Throws Problem `invalid` for unknown parameters, as the driver would take any. */
export function connectionOptions(url: string): ConnectionOptions {
  const parsed = new URL(url);
  const parameters = mysqlParameters(parsed);
  if (typeof parameters === 'string') throw new Problem('invalid', `In a connection string for MySQL ${parameters}`);
  const ssl = sslOptions(parameters);
  const database = decodeURIComponent(parsed.pathname.slice(1));
  return {
    ...(parameters.socket === null
      ? { host: parsed.hostname.replace(/^\[|\]$/g, '') || 'localhost', port: parsed.port === '' ? 3306 : Number(parsed.port) }
      : { socketPath: parameters.socket }),
    user: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    ...(database === '' ? {} : { database }),
    ...(ssl === null ? {} : { ssl }),
  };
}

function sslOptions({ sslMode, sslCa, sslCert, sslKey }: MysqlParameters): SslOptions | null {
  if (sslMode === 'disabled') return null;
  return {
    rejectUnauthorized: sslMode !== 'required',
    verifyIdentity: sslMode === 'verify_identity',
    ...(sslCa === null ? {} : { ca: content('ssl-ca', sslCa) }),
    ...(sslCert === null ? {} : { cert: content('ssl-cert', sslCert) }),
    ...(sslKey === null ? {} : { key: content('ssl-key', sslKey) }),
  };
}

function content(parameter: string, path: string): string {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch (error) {
    throw new Problem('invalid', `${parameter} names a file that cannot be read: ${path}`, { cause: error });
  }
}
