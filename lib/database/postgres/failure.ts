import { DatabaseFailure, SOCKET_CODES, type FailureCode } from '../failure';

/** SQLSTATE → code, whole classes where every member means the same. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const BY_STATE: Record<string, FailureCode> = {
  '57014': 'timeout',
  '55P03': 'locked',
  '40P01': 'deadlock',
  '40001': 'deadlock',
  '23505': 'duplicate',
  '42501': 'no_privilege',
  '42P01': 'missing',
  '42703': 'missing',
  '3F000': 'missing',
  '3D000': 'connection',
  '25006': 'read_only',
  '25P03': 'connection',
  '53300': 'connection',
  '28000': 'connection',
  '28P01': 'connection',
  P0001: 'constraint',
};
const BY_CLASS: Record<string, FailureCode> = {
  '08': 'connection',
  '22': 'bad_value',
  '23': 'constraint',
  '57': 'connection',
  '58': 'connection',
};

/** pg and pg-pool report these without a code: the connection is gone, or there was none to be had. */
const CONNECTION_MESSAGES = [
  'Connection terminated',
  'timeout expired',
  'Query read timeout',
  'Client has encountered a connection error',
  'Client was closed',
  'Cannot use a pool after calling end',
];

export function postgresFailure(error: unknown): DatabaseFailure {
  if (error instanceof DatabaseFailure) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : null;
  const message = error instanceof Error ? error.message : '';
  // Said with a state that has many other meanings.
  if (message.includes('not currently accepting connections')) return new DatabaseFailure('connection', code, error);
  if (code !== null && /^[0-9A-Z]{5}$/.test(code)) {
    return new DatabaseFailure(BY_STATE[code] ?? BY_CLASS[code.slice(0, 2)] ?? 'other', code, error);
  }
  const broken = (code !== null && SOCKET_CODES.includes(code)) || CONNECTION_MESSAGES.some((known) => message.includes(known));
  return new DatabaseFailure(broken ? 'connection' : 'other', code, error);
}
