import pg from 'pg';
import { DatabaseFailure } from '../failure';
import { postgresFailure } from './failure';

/** Parameter of a statement that is not sent itself: transaction settings, sent with the next statement. */
export class StatementSettings {
  /** `alone`: that statement is the transaction's only one. */
  constructor(
    readonly settings: Readonly<Record<string, string>>,
    readonly alone = false,
  ) {}
}

type Answer = Pick<pg.QueryResult, 'command' | 'rowCount' | 'rows'>;

const NOTHING: Answer = { command: '', rowCount: 0, rows: [] };
const BEGINS = /^(begin|start transaction)\b/;
const ENDS = /^(commit|rollback)$/;
/** Statements without an answer that anybody reads. */
const CARRIED = /^((release )?savepoint \w+|set constraints all deferred)$/;

/**
 * A connection while one caller holds it. BEGIN and the settings go with the first statement, in one round trip; the end of a read-only
 * transaction is not waited for. Each is a message of its own, answered in order, so that the next holder's statements come after it. A
 * transaction that writes waits for its BEGIN and limits before its first statement is sent, and for its end; its savepoints go with the
 * statements that follow them.
 */
export class PostgresSession {
  #begin: string | null = null;
  #settings: Record<string, string> = {};
  #carried: string[] = [];
  #readOnly = false;
  #opened: Promise<unknown> = Promise.resolve();
  #alone = false;
  #over = false;
  #broken: { by: unknown } | null = null;

  constructor(
    private readonly client: pg.Client,
    private readonly onError: (error: Error) => void,
  ) {}

  /** Must not be used again: the server may still run an old statement, whose answer would be taken for that of the next one. */
  get broken(): boolean {
    return this.#broken !== null;
  }

  async query(text: string, values: unknown[]): Promise<Answer> {
    const [first] = values;
    if (first instanceof StatementSettings) {
      Object.assign(this.#settings, first.settings);
      this.#alone ||= first.alone && this.#readOnly;
      return NOTHING;
    }
    if (BEGINS.test(text)) {
      this.#begin = text;
      this.#readOnly = text.endsWith('read only');
      return NOTHING;
    }
    if (ENDS.test(text)) return this.#end(text);
    if (this.#over) throw new Error('a transaction of one statement has ended with it');
    if (CARRIED.test(text)) {
      this.#carried.push(text);
      return NOTHING;
    }
    const { stream } = this.client.connection;
    // Sends everything up to the next await in one packet.
    stream.cork();
    process.nextTick(() => stream.uncork());
    const begins = this.#begin !== null;
    const ahead = this.#takeAhead();
    if (ahead !== '') this.#opened = this.#send(ahead, []);
    if (begins && !this.#readOnly) await this.#opened;
    const sent = this.#send(text, values);
    if (this.#alone) {
      this.#over = true;
      this.#endUnawaited('commit');
    }
    const [, answer] = await Promise.all([this.#opened, sent]);
    return answer;
  }

  #end(text: string): Promise<Answer> | Answer {
    const unsent = this.#begin !== null || this.#over;
    this.#over = false;
    this.#alone = false;
    this.#opened = Promise.resolve();
    this.#takeAhead();
    if (unsent) return NOTHING;
    if (!this.#readOnly) return this.#endWriting(text);
    this.#endUnawaited(text);
    return NOTHING;
  }

  /** COMMIT of a failed transaction rolls back; on a broken connection the server ends the transaction itself. */
  #endUnawaited(text: string): void {
    if (this.#broken !== null) return;
    this.#send(text, []).catch((error: unknown) => {
      if (this.#broken === null && error instanceof Error) this.onError(error);
    });
  }

  async #endWriting(text: string): Promise<Answer> {
    const answer = await this.#send(text, []);
    // COMMIT of a failed transaction answers ROLLBACK, without an error.
    if (text === 'commit' && answer.command === 'ROLLBACK')
      throw new DatabaseFailure('other', '25P02', new Error('rolled back instead of committed'));
    return answer;
  }

  #takeAhead(): string {
    const { escapeLiteral } = pg;
    const set = Object.entries(this.#settings).map(([name, value]) => `set_config(${escapeLiteral(name)}, ${escapeLiteral(value)}, true)`);
    const begin = this.#begin === null ? [] : [this.#begin];
    const parts = [...begin, ...(set.length === 0 ? [] : [`select ${set.join(', ')}`]), ...this.#carried];
    this.#begin = null;
    this.#settings = {};
    this.#carried = [];
    return parts.join('; ');
  }

  async #send(text: string, values: unknown[]): Promise<Answer> {
    // After a statement without an answer, a ROLLBACK would wait for the whole timeout again.
    if (this.#broken !== null) throw this.#broken.by;
    try {
      return await this.client.query(text, values);
    } catch (error) {
      if (postgresFailure(error).code === 'connection') this.#broken ??= { by: error };
      throw error;
    }
  }
}
