/** Database errors as the console names them; the engines map their own codes to these. */
export const FAILURE_CODES = [
  /** The statement ran into its timeout and was cancelled: nothing it did remains. */
  'timeout',
  'locked',
  /** Deadlock or serialization failure: the transaction was rolled back and may be tried again. */
  'deadlock',
  'duplicate',
  /** Another constraint or a trigger of the table refused the row. */
  'constraint',
  /** A value does not fit its column. */
  'bad_value',
  'no_privilege',
  /** A table, column or schema does not exist. */
  'missing',
  /** The server accepts no writes (a replica, or a read-only transaction). */
  'read_only',
  /** MySQL with binlog_format = STATEMENT refuses writes of a READ COMMITTED transaction. */
  'statement_binlog',
  'connection',
  /** The server is too old and may not support the statement; a mapping that does not fit its table gives the same error. */
  'outdated',
  /** Every connection the console may hold to this server stayed in use until the caller's timeout: nothing was sent. */
  'busy',
  'other',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** Inverts a table of error codes: from the server's code to ours. */
export function byCode<Code extends string = FailureCode>(codes: Partial<Record<Code, readonly (string | number)[]>>): Map<string, Code> {
  const tables = Object.entries(codes) as [Code, readonly (string | number)[]][];
  return new Map(tables.flatMap(([code, own]) => own.map((one): [string, Code] => [String(one), code])));
}

/** Node's codes for a connection that broke or could not be made. */
export const SOCKET_CODES: readonly string[] = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT']; // prettier-ignore

/** A database error with its code. The driver's own error is the cause, for the log only: it may quote values. */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';

  constructor(
    readonly code: FailureCode,
    /** SQLSTATE or the driver's own code, for the log. */
    readonly state: string | null,
    cause: unknown,
    /** The sentence of `tooOld`; null if the server is new enough. */
    readonly outdated: string | null = null,
    /** From the console's own store, not from an observed database. */
    readonly ofStore = false,
  ) {
    super(`database failure: ${code}${state === null ? '' : ` (${state})`}`, { cause });
  }

  /** Compares names: the bundler may load this module several times in a process, and `instanceof` must hold across the copies. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && 'name' in value && value.name === 'DatabaseFailure' && 'code' in value;
  }
}

/** For `catch`: takes a failure with one of these codes, or any where none is named, for this value; any other error goes on. */
export const failureAs =
  <T>(value: T, ...codes: FailureCode[]) =>
  (error: unknown): T => {
    if (error instanceof DatabaseFailure && (codes.length === 0 || codes.includes(error.code))) return value;
    throw error;
  };
