import mysql from 'mysql2';
import { CompiledQuery, type DatabaseConnection, type QueryResult } from 'kysely';
import { within } from '@/lib/shared/async/within';
import type { PoolOptions, TransactionLimits } from '../engine';
import { DatabaseFailure } from '../failure';
import { mysqlFailure } from './failure';
import { serverKind, transactionSetting, type ServerKind } from './server';
import { connectionOptions } from './url';

/** Parameter of a statement that is never sent: the limits of the transaction that begins. */
export class LimitsOfTransaction {
  constructor(readonly limits: TransactionLimits) {}
}

/** Strict about values that do not fit, 0 stays 0 in an AUTO_INCREMENT column, backslashes and quotes with their default meaning. */
const SQL_MODE = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO';
/** The server's value for no limit: a configured limit would silently cut every list. */
const ALL_ROWS = '18446744073709551615';
/** The server ends a session, and its locks, after this idle time. */
const IDLE_SESSION_SECONDS = 60;
/** Time beyond the server's own limit before the client kills a statement over a second connection. */
const KILL_GRACE_MS = 250;
const JSON_TOO_DEEP = '3157';
const PREPARED_STATEMENTS_MAX = 100;
const READS = 'start transaction read only';
const ENDS = /^(commit|rollback)$/;
/** The time of the transaction, set before its first statement that uses it. */
const NOW = '@outbox_console_now';

/** Options of every connection, including those that only kill a statement. */
export function sessionOptions(options: PoolOptions): mysql.ConnectionOptions {
  return {
    ...connectionOptions(options.url),
    connectTimeout: options.connectTimeoutMs,
    // Our texts are compared byte by byte; a column keeps its own collation.
    charset: 'UTF8MB4_BIN',
    // Otherwise the server can request any file of this machine.
    flags: ['-LOCAL_FILES'],
    multipleStatements: false,
    supportBigNumbers: true,
    bigNumberStrings: true,
    decimalNumbers: false,
    dateStrings: true,
    jsonStrings: true,
    timezone: 'Z',
    maxPreparedStatements: PREPARED_STATEMENTS_MAX,
    connectAttributes: { program_name: options.applicationName },
    enableKeepAlive: true,
  };
}

const bits = (value: unknown): unknown => (Buffer.isBuffer(value) ? BigInt(`0x${value.toString('hex') || '0'}`).toString() : value);

/** BIT values as numbers. The driver's typeCast hook costs half a second per 10,000 rows of a prepared statement. */
function withBits(result: unknown, fields: mysql.FieldPacket[] | undefined): unknown {
  const names = (fields ?? []).filter(({ columnType }) => columnType === mysql.Types.BIT).map(({ name }) => name);
  if (names.length === 0 || !Array.isArray(result)) return result;
  for (const row of result as Record<string, unknown>[]) for (const name of names) row[name] = bits(row[name]);
  return result;
}

type Scalar = string | number | boolean | bigint | null;

async function askKind(raw: mysql.Connection): Promise<ServerKind> {
  const answer = await send(raw, 'select version() as version', []);
  const [row] = Array.isArray(answer) ? answer : [];
  return serverKind(String(row?.version));
}

/** A connection of the pool. A read-only transaction of one statement is sent without BEGIN and COMMIT, in a session that only reads. */
export class MysqlConnection implements DatabaseConnection {
  #limits: TransactionLimits | null = null;
  #set = '';
  /** Limits as session settings in SQL; empty while there are none. */
  #wanted = '';
  #toldNow = false;
  #broken = false;
  /** A read-only transaction that the server does not know yet. */
  #toBegin = false;
  #alone: 'no' | 'due' | 'over' = 'no';
  #onlyReads = false;

  private constructor(
    private readonly raw: mysql.Connection,
    private readonly options: PoolOptions,
    readonly kind: ServerKind,
  ) {}

  /** Sets up the session, in one statement if the `known` server's kind is cached. */
  static async open(raw: mysql.Connection, options: PoolOptions, known: { kind: ServerKind | null }): Promise<MysqlConnection> {
    const kind = (known.kind ??= await askKind(raw));
    const connection = new MysqlConnection(raw, options, kind);
    const own = kind.mariadb || kind.major < 8 ? '' : ', session information_schema_stats_expiry = 0';
    await send(
      raw,
      `set names utf8mb4 collate utf8mb4_bin, session time_zone = '+00:00', session sql_mode = '${SQL_MODE}', session autocommit = 1, session sql_safe_updates = 0,
       session sql_select_limit = ${ALL_ROWS}, session sql_big_selects = 1, session sql_auto_is_null = 0,
       session wait_timeout = ${IDLE_SESSION_SECONDS}, session ${transactionSetting(kind, 'isolation')} = 'READ-COMMITTED', session ${transactionSetting(kind, 'read_only')} = 0${own}`,
      [],
    );
    if (options.prepare !== undefined) await send(raw, options.prepare, []);
    return connection;
  }

  /** A read-only transaction begins with its first statement. */
  async begin(readOnly: boolean): Promise<void> {
    if (readOnly) this.#toBegin = true;
    else if (this.#onlyReads) throw new Error('this session only reads');
    else await this.executeQuery(CompiledQuery.raw('begin'));
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const [first] = parameters;
    const limits = first instanceof LimitsOfTransaction ? first.limits : null;
    const ends = ENDS.test(sql);
    if (ends && (this.#toBegin || this.#alone !== 'no')) {
      this.#transactionEnded();
      return { rows: [] };
    }
    if (this.#toBegin) {
      this.#toBegin = false;
      if (limits?.alone === true) this.#alone = 'due';
      else await this.executeQuery(CompiledQuery.raw(READS));
    }
    if (limits !== null) {
      this.#limit(limits);
      return { rows: [] };
    }
    if (this.#alone === 'over') throw new Error('a transaction of one statement has ended with it');
    if (this.#alone === 'due') this.#alone = 'over';
    if (!ends) await this.#setUp(sql.includes(NOW));
    const values = parameters.map(scalar);
    // COMMIT and ROLLBACK are never killed: their outcome would be unknown.
    const run = (): Promise<Answer> => this.#timed(() => send(this.raw, sql, values), ends ? null : (this.#limits?.statementMs ?? null));
    const result = await run().catch((error: unknown) => this.#withoutDeepJson(error, run));
    if (ends) this.#transactionEnded();
    if (Array.isArray(result)) return { rows: result as R[] };
    return { rows: [], numAffectedRows: BigInt(result.affectedRows), numChangedRows: BigInt(result.changedRows ?? 0) };
  }

  // Not used; a half-read result would block the connection.
  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('statements are not streamed');
  }

  /** Resets the connection for its next user; true if it must not be used again. */
  ended(): boolean {
    this.#toBegin = false;
    this.#alone = 'no';
    this.#limits = null;
    this.#wanted = '';
    this.#toldNow = false;
    return this.#broken;
  }

  /** Resolves when it is closed. */
  close(): Promise<void> {
    if (this.#broken) {
      this.raw.destroy();
      return Promise.resolve();
    }
    return new Promise((resolve) => this.raw.end(() => resolve()));
  }

  /** After the error "JSON too deep": runs it again, ignoring the JSON in texts that open more brackets than MySQL can nest. */
  async #withoutDeepJson(error: unknown, run: () => Promise<Answer>): Promise<Answer> {
    if (mysqlFailure(error).state !== JSON_TOO_DEEP) throw error;
    const allow = (brackets: string): Promise<Answer> =>
      this.#timed(() => send(this.raw, `set @outbox_console_brackets = ${brackets}`, []), null);
    await allow('100');
    try {
      return await run();
    } finally {
      await allow('null');
    }
  }

  /** MySQL limits idle sessions, not idle transactions, so the session's limit is reset. Only the next statement waits for the answer. */
  #transactionEnded(): void {
    if (this.#limits !== null && !this.kind.mariadb && this.#alone === 'no') {
      this.#set = '';
      send(this.raw, `set session wait_timeout = ${IDLE_SESSION_SECONDS}`, []).catch(() => undefined);
    }
    this.ended();
  }

  #limit(limits: TransactionLimits): void {
    this.#limits = limits;
    const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));
    const [statement, idle] = this.kind.mariadb
      ? [`session max_statement_time = ${limits.statementMs / 1_000}`, `session idle_transaction_timeout = ${seconds(limits.idleMs)}`]
      : [`session max_execution_time = ${Math.ceil(limits.statementMs)}`, `session wait_timeout = ${seconds(limits.idleMs)}`];
    this.#onlyReads ||= this.#alone === 'due';
    const own = `${statement}, ${this.#alone === 'due' ? `session ${transactionSetting(this.kind, 'read_only')} = 1` : idle}`;
    this.#wanted = `${own}, session innodb_lock_wait_timeout = ${seconds(limits.lockMs)}, session lock_wait_timeout = ${seconds(limits.lockMs)}`;
  }

  /** Sends the session settings that a statement needs and the session does not have yet. */
  async #setUp(usesNow: boolean): Promise<void> {
    if (this.#wanted === '') return;
    const changes = [
      // The current time in a row's version must not change within the transaction.
      ...(usesNow && !this.#toldNow ? [`${NOW} = utc_timestamp(6)`] : []),
      ...(this.#set === this.#wanted ? [] : [this.#wanted]),
    ];
    if (changes.length === 0) return;
    await this.#timed(() => send(this.raw, `set ${changes.join(', ')}`, []), null);
    this.#set = this.#wanted;
    this.#toldNow ||= usesNow;
  }

  async #timed(work: () => Promise<Answer>, statementMs: number | null): Promise<Answer> {
    const { clientTimeoutMs } = this.options;
    let late = false;
    const kills: Promise<void>[] = [];
    const hurry =
      statementMs === null
        ? undefined
        : setTimeout(() => {
            late = true;
            // If the statement ends before the kill arrives, the next one would be killed: the connection is not used again.
            this.#broken = true;
            kills.push(killQuery(this.raw.threadId, this.options));
          }, statementMs + KILL_GRACE_MS);
    try {
      const result = await within(work(), clientTimeoutMs);
      if (result === null) {
        this.#broken = true;
        this.raw.destroy();
        throw new DatabaseFailure('connection', null, new Error(`no answer within ${clientTimeoutMs} ms`));
      }
      if (late) throw new DatabaseFailure('timeout', null, new Error('ended over a second connection'));
      return result;
    } catch (error) {
      const failure = mysqlFailure(error);
      if (failure.code === 'connection') this.#broken = true;
      throw late && failure.code !== 'connection' ? new DatabaseFailure('timeout', failure.state, error) : error;
    } finally {
      clearTimeout(hurry);
      await Promise.all(kills);
    }
  }
}

/** Kills the statement of another connection of the same user; MySQL's own time limit covers SELECT only. */
async function killQuery(threadId: number, options: PoolOptions): Promise<void> {
  const connection = mysql.createConnection({ ...sessionOptions(options), connectTimeout: 1_000 });
  connection.on('error', () => undefined);
  try {
    await send(connection, `kill query ${threadId}`, []);
  } catch {
    // It has ended, or the server does not answer: then the client's timeout ends the connection.
  } finally {
    connection.destroy();
  }
}

type Answer = Record<string, unknown>[] | { affectedRows: number; changedRows?: number };

/** Statements with parameters are prepared, so that no value is ever written into SQL text; others are sent as they are. */
function send(raw: mysql.Connection, sql: string, values: Scalar[]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null | undefined, result: unknown, fields?: mysql.FieldPacket[]): void => {
      if (error === null || error === undefined) resolve(withBits(result, fields) as Answer);
      else reject(error);
    };
    if (values.length === 0) raw.query(sql, done);
    else raw.execute(sql, values, done);
  });
}

/** Throws for other types: the driver would turn an object into JSON, a list of assignments or a date in some time zone. */
function scalar(value: unknown): Scalar {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string') {
    // A text with a lone surrogate has no UTF-8 and would arrive as another text.
    if (value.isWellFormed()) return value;
    throw new DatabaseFailure('bad_value', null, new Error('a text that is not Unicode'));
  }
  throw new TypeError(
    `a statement takes texts, numbers, truth values and null, not ${value === undefined ? 'undefined' : Object.prototype.toString.call(value)}`,
  );
}
