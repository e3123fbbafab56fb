import { DatabaseFailure, type FailureCode } from '@/lib/database/failure';
import type { DetectionFailure } from '@/lib/shared/detection';
import { Problem } from '@/lib/shared/problems';

const BY_CODE: Partial<Record<FailureCode, DetectionFailure['code']>> = {
  connection: 'connection',
  timeout: 'timeout',
  locked: 'timeout',
  no_privilege: 'no_privilege',
  missing: 'missing',
  outdated: 'outdated',
};
/** PostgreSQL's SQLSTATEs and MySQL's error numbers: access denied, no such database, no right to this database. */
const LOGIN_STATES = new Set(['28P01', '28000', '1045', '1698']);
const NAME_STATES = new Set(['3D000', '1049', '1044']);

/** An expected failure as a code, with our own detail or the server's code; null for a bug. Never the driver's text. */
export function failureOf(error: unknown): DetectionFailure | null {
  if (error instanceof Problem) return { code: 'mapping', detail: error.detail };
  const tls = tlsFailure(error);
  if (tls !== null) return { code: tls, detail: null };
  if (!(error instanceof DatabaseFailure)) return null;
  const state = error.state ?? '';
  if (LOGIN_STATES.has(state)) return { code: 'login', detail: null };
  if (NAME_STATES.has(state)) return { code: 'no_database', detail: null };
  return { code: BY_CODE[error.code] ?? 'other', detail: error.state };
}

/** The same; anything unexpected is a bug of the console, and is thrown again. */
export function expectedFailure(error: unknown): DetectionFailure {
  const failure = failureOf(error);
  if (failure === null) throw error;
  return failure;
}

/** Drivers report TLS problems as text: matches known phrases only. */
function tlsFailure(error: unknown): DetectionFailure['code'] | null {
  const cause = error instanceof DatabaseFailure ? error.cause : error;
  const text = cause instanceof Error ? `${'code' in cause ? String(cause.code) : ''} ${cause.message}` : '';
  if (/does not support (SSL|secure connection)/i.test(text)) return 'tls_none';
  if (/no encryption|SSL off|require_secure_transport|insecure transport/i.test(text)) return 'tls_required';
  if (/SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|CERT_|certificate/i.test(text)) return 'tls_untrusted';
  return null;
}
