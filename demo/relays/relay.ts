import type { Socket } from 'node:net';
import pg from 'pg';
import type { SinkClient } from '../sink/client';

export interface RelayOptions {
  /** The database of the service; a login that may write its outbox. */
  connectionString: string;
  sink: SinkClient;
  /** The outbox's id, as the sink is to record it. */
  outbox: string;
  /** Told what a relay would write into its log; errors that it swallows too. */
  log?: (line: string) => void;
}

/** A running relay. */
export interface Relay {
  /** Finishes what is in its hands, then ends. */
  stop(): Promise<void>;
  /** Dies like a process that is killed: connections break, nothing is finished, nothing is written any more. */
  kill(): void;
  /** The process lives; whether it publishes is another question. */
  readonly alive: boolean;
}

/** Thrown inside a relay that was killed; nobody outside sees it. */
class Killed extends Error {}

/** What the five relays share: a pool that can be torn down, a pause that can be cut short, one end. */
export class RelayBody implements Relay {
  readonly pool: pg.Pool;
  readonly log: (line: string) => void;
  private readonly killing = new AbortController();
  private readonly stopping = new AbortController();
  private readonly clients = new Set<pg.ClientBase>();
  private readonly work: Promise<void>[] = [];

  constructor(private readonly options: RelayOptions) {
    this.log = options.log ?? (() => undefined);
    this.pool = new pg.Pool({ connectionString: options.connectionString, max: 10, application_name: `relay ${options.outbox}` });
    this.pool.on('error', (error) => this.log(`connection lost: ${error.message}`));
    this.pool.on('connect', (client) => this.watch(client));
  }

  get alive(): boolean {
    return !this.stopping.signal.aborted;
  }

  /** False from the moment the relay is to end. */
  get running(): boolean {
    return this.alive;
  }

  watch(client: pg.ClientBase): void {
    this.clients.add(client);
    client.on('error', () => undefined);
    client.once('end', () => this.clients.delete(client));
    if (this.killing.signal.aborted) tearDown(client);
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<pg.QueryResult<Row>> {
    this.mustLive();
    return this.pool.query<Row>(text, values);
  }

  /** Runs in one transaction, rolled back when `work` fails. */
  async transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    this.mustLive();
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      this.mustLive();
      await client.query('BEGIN');
      const result = await work(client);
      this.mustLive();
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: Error) => (broken = failure));
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Rejects with what the sink said. */
  async publish(event: { id: string; type: string; dedupKey: string | null; body: string }): Promise<void> {
    this.mustLive();
    const { id, ...message } = event;
    await this.options.sink.publish({ outbox: this.options.outbox, eventId: id, ...message }, this.killing.signal);
    this.mustLive();
  }

  /** Runs `tick` again and again with a pause between, logging what it throws, until the relay is to end. */
  every(pauseMs: number, tick: () => Promise<void>): void {
    this.during(async () => {
      while (this.running) {
        try {
          await tick();
        } catch (error) {
          if (this.killing.signal.aborted) return;
          this.log(describe(error));
        }
        await this.pause(pauseMs);
      }
    });
  }

  /** Work that `stop` waits for. What a kill broke is over without a word. */
  during(run: () => Promise<void>): void {
    const work = run().catch((error: unknown) => {
      if (!this.killing.signal.aborted) this.log(describe(error));
    });
    this.work.push(work);
    void work.then(() => this.work.splice(this.work.indexOf(work), 1));
  }

  async pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = this.stopping.signal;
      const done = () => {
        clearTimeout(timer);
        end.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      if (end.aborted) done();
      else end.addEventListener('abort', done);
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    while (this.work.length > 0) await Promise.all(this.work);
    if (!this.pool.ended) await this.pool.end();
  }

  kill(): void {
    this.killing.abort(new Killed('killed'));
    this.stopping.abort();
    for (const client of this.clients) tearDown(client);
    if (!this.pool.ended) void this.pool.end().catch(() => undefined);
  }

  private mustLive(): void {
    if (this.killing.signal.aborted) throw new Killed('killed');
  }
}

/** Breaks the connection as the end of a process would: the server rolls back what was open. */
function tearDown(client: pg.ClientBase): void {
  // Not in the types: the driver's own connection and its socket.
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
}

export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
