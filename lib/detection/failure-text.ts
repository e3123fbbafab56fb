import { DatabaseFailure, type FailureCode } from '@/lib/database/failure';
import { Problem } from '@/lib/shared/problems';

const SAID: Partial<Record<FailureCode, string>> = {
  connection:
    'The database cannot be reached: check host, port and database name, that a connection from here is let through, and whether it wants TLS',
  timeout: 'The database took too long and the statement was cancelled: try one schema at a time, or again when it is less busy',
  locked: 'The table is locked at the moment: try again',
  no_privilege: "The login may not read this: grant it USAGE on the schema and SELECT on the table, or use the table owner's login",
  missing: 'A table or column is gone since it was found: scan again',
  other: 'The database could not answer: its log says why',
};

/** An expected failure in words for a person, without anything of a connection string; null for a fault of ours. */
export function failureText(error: unknown): string | null {
  if (error instanceof Problem) return error.detail;
  const tls = tlsText(error);
  if (tls !== null) return tls;
  if (!(error instanceof DatabaseFailure)) return null;
  // The driver's text may quote the connection string; the code never does.
  const text = SAID[error.code] ?? SAID.other ?? '';
  if (error.state === '28P01' || error.state === '28000' || error.state === 'ER_ACCESS_DENIED_ERROR')
    return 'The database refused the login: check user and password';
  if (error.state === '3D000' || error.state === 'ER_BAD_DB_ERROR') return 'There is no database of this name on the server';
  return error.state === null ? text : `${text} (${error.state})`;
}

/** What a driver says about TLS it says in words: only known ones are looked for, none is passed on. */
function tlsText(error: unknown): string | null {
  const cause = error instanceof DatabaseFailure ? error.cause : error;
  const said = cause instanceof Error ? `${'code' in cause ? String(cause.code) : ''} ${cause.message}` : '';
  if (/does not support (SSL|secure connection)/i.test(said))
    return 'The server speaks no TLS: leave sslmode (or ssl) out of the connection string';
  if (/no encryption|SSL off|require_secure_transport|insecure transport/i.test(said))
    return 'The server insists on TLS: add ?sslmode=require to the connection string';
  if (/SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|CERT_|certificate/i.test(said))
    return "The server's certificate is not trusted here: give Node the authority that signed it with NODE_EXTRA_CA_CERTS";
  return null;
}
