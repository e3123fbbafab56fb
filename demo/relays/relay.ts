import { setMaxListeners } from 'node:events';
import type { SinkClient } from '../sink/client';
import type { Answer } from '../database/service';

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

const MOST_AT_ONCE = 200;

/** Thrown inside a relay that was killed; nobody outside sees it. */
class Killed extends Error {}

/** What all relays share, whatever they are connected to: work that goes on, a pause that can be cut short, one end. */
export abstract class RelayBody implements Relay {
  readonly log: (line: string) => void;
  private readonly killing = new AbortController();
  private readonly stopping = new AbortController();
  private readonly work: Promise<void>[] = [];

  constructor(protected readonly options: RelayOptions) {
    this.log = options.log ?? (() => undefined);
    // Every message on its way to the sink listens for the end, and more than ten are on their way at once.
    setMaxListeners(MOST_AT_ONCE, this.killing.signal);
  }

  /** Gives the connections back; nothing uses them any more. */
  protected abstract disconnect(): Promise<void>;
  /** Breaks the connections as the end of a process would: the server rolls back what was open. */
  protected abstract tearDown(): void;
  /** One statement, on any connection; parameters numbered `$1`. */
  protected abstract send<Row extends object>(text: string, values: unknown[]): Promise<Answer<Row>>;

  get alive(): boolean {
    return !this.stopping.signal.aborted;
  }

  /** False from the moment the relay is to end. */
  get running(): boolean {
    return this.alive;
  }

  protected get killed(): boolean {
    return this.killing.signal.aborted;
  }

  async query<Row extends object>(text: string, values: unknown[] = []): Promise<Answer<Row>> {
    this.mustLive();
    return this.send<Row>(text, values);
  }

  /** Rejects with what the sink said. */
  async publish(event: { id: string; type: string; dedupKey: string | null; body: string }): Promise<void> {
    this.mustLive();
    const { id, ...message } = event;
    await this.options.sink.publish({ outbox: this.options.outbox, eventId: id, ...message }, this.killing.signal);
    this.mustLive();
  }

  /** Runs `tick` until the relay is to end, logging what it throws, with a pause after each that does not answer true: there is more. */
  every(pauseMs: number, tick: () => Promise<boolean | void>): void {
    this.during(async () => {
      while (this.running) {
        let more: boolean | void = false;
        try {
          more = await tick();
        } catch (error) {
          if (this.killing.signal.aborted) return;
          this.log(describe(error));
        }
        if (more !== true) await this.pause(pauseMs);
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
    await this.disconnect();
  }

  kill(): void {
    this.killing.abort(new Killed('killed'));
    this.stopping.abort();
    this.tearDown();
    void this.disconnect().catch(() => undefined);
  }

  protected mustLive(): void {
    if (this.killing.signal.aborted) throw new Killed('killed');
  }
}

export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
