/** What went wrong in a database, in the console's words; the engines map their own codes to these. */
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
  /** The server's binary log holds statements, and takes none of a transaction that reads what is committed. */
  'statement_binlog',
  'connection',
  /** A statement that the server may be too old to know: a newer one says the same of a mapping that does not fit its table. */
  'outdated',
  /** All connections the console may have to this server stayed in use for as long as the caller would wait: nothing was sent. */
  'busy',
  'other',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** A table of error codes by what they mean, the other way round. */
export const byCode = (codes: Partial<Record<FailureCode, readonly (string | number)[]>>): ReadonlyMap<string, FailureCode> =>
  new Map(Object.entries(codes).flatMap(([code, own]) => own.map((one) => [String(one), code as FailureCode])));

/** What the system says of a connection that could not be made, or broke. */
export const SOCKET_CODES: readonly string[] = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT']; // prettier-ignore

/** A database error with its code. The driver's own error is the cause, for the log only: it may quote values. */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';

  constructor(
    readonly code: FailureCode,
    /** SQLSTATE or the driver's own code, for the log. */
    readonly state: string | null,
    cause: unknown,
    /** What the server is and would have to be, in a sentence, where it is too old. */
    readonly outdated: string | null = null,
    /** Of the console's own store, and of no observed database. */
    readonly ofStore = false,
  ) {
    super(`database failure: ${code}${state === null ? '' : ` (${state})`}`, { cause });
  }

  /** By name: the bundler puts this module into a process more than once, and a failure must be one everywhere. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && 'name' in value && value.name === 'DatabaseFailure' && 'code' in value;
  }
}
