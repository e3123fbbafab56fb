import { byCode, DatabaseFailure, SOCKET_CODES } from '../failure';

/** SQLSTATE → code, whole classes where every member means the same. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const BY_STATE = byCode({
  timeout: ['57014'],
  locked: ['55P03'],
  deadlock: ['40P01', '40001'],
  duplicate: ['23505'],
  constraint: ['23', 'P0001'],
  bad_value: ['22'],
  no_privilege: ['42501'],
  missing: ['42P01', '42703', '3F000'],
  read_only: ['25006'],
  connection: ['08', '57', '58', '3D000', '25P03', '53300', '28000', '28P01'],
});

/** pg and pg-pool report these without a code: the connection is lost or could not be made. */
// prettier-ignore
const CONNECTION_MESSAGES = [
  'Connection terminated', 'timeout expired', 'Query read timeout', 'Client has encountered a connection error', 'Client was closed',
  'Cannot use a pool after calling end',
];

export function postgresFailure(error: unknown): DatabaseFailure {
  if (error instanceof DatabaseFailure) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : null;
  const message = error instanceof Error ? error.message : '';
  // Its SQLSTATE has many other meanings.
  if (message.includes('not currently accepting connections')) return new DatabaseFailure('connection', code, error);
  if (code !== null && /^[0-9A-Z]{5}$/.test(code))
    return new DatabaseFailure(BY_STATE.get(code) ?? BY_STATE.get(code.slice(0, 2)) ?? 'other', code, error);
  const broken = (code !== null && SOCKET_CODES.includes(code)) || CONNECTION_MESSAGES.some((known) => message.includes(known));
  return new DatabaseFailure(broken ? 'connection' : 'other', code, error);
}
