/** Parameters of a `mysql://` or `mariadb://` URL, parsed here for both the configuration and the driver. */

/** TLS modes, weakest first, named as in the servers' own clients. */
export const SSL_MODES = ['disabled', 'required', 'verify_ca', 'verify_identity'] as const;
export type SslMode = (typeof SSL_MODES)[number];

const PARAMETERS = ['ssl-mode', 'ssl-ca', 'ssl-cert', 'ssl-key', 'socket'] as const;

/** PostgreSQL's names for them. */
const SPELLINGS: Record<string, SslMode> = {
  disable: 'disabled',
  require: 'required',
  'verify-ca': 'verify_ca',
  'verify-full': 'verify_identity',
};

/** All but the mode are file paths. */
export interface MysqlParameters extends Record<'sslCa' | 'sslCert' | 'sslKey' | 'socket', string | null> {
  sslMode: SslMode;
}

/** The URL's parameters, or an error text that quotes no value, only the parameter's name. */
export function mysqlParameters(url: URL): MysqlParameters | string {
  const query = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    const known = name
      .toLowerCase()
      .replaceAll('_', '-')
      .replace(/^sslmode$/, 'ssl-mode');
    if (!(PARAMETERS as readonly string[]).includes(known)) return `there is no parameter ${name}; known: ${PARAMETERS.join(', ')}`;
    query.set(known, value);
  }
  const of = (parameter: (typeof PARAMETERS)[number]): string | null => query.get(parameter) ?? null;
  const named = of('ssl-mode')?.toLowerCase() ?? (of('ssl-ca') === null ? 'disabled' : 'verify_ca');
  const mode = SPELLINGS[named] ?? named.replaceAll('-', '_');
  const sslMode = SSL_MODES.find((one) => one === mode);
  if (sslMode === undefined) return `there is no such ssl-mode; use one of ${SSL_MODES.join(', ')}`;
  return { sslMode, sslCa: of('ssl-ca'), sslCert: of('ssl-cert'), sslKey: of('ssl-key'), socket: of('socket') };
}
