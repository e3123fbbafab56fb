import type { Socket } from 'node:net';
import pg from 'pg';
import type { Answer } from '../database/service';
import { RelayBody, type RelayOptions } from './relay';

/** A relay on PostgreSQL, with a pool that can be torn down. */
export class PostgresRelay extends RelayBody {
  private readonly pool: pg.Pool;
  private readonly clients = new Set<pg.ClientBase>();

  constructor(options: RelayOptions) {
    super(options);
    this.pool = new pg.Pool({ connectionString: options.connectionString, max: 10, application_name: `relay ${options.outbox}` });
    this.pool.on('error', (error) => this.log(`connection lost: ${error.message}`));
    this.pool.on('connect', (client) => this.watch(client));
  }

  /** Makes a connection of the relay's own one that ends with it. */
  watch(client: pg.ClientBase): void {
    this.clients.add(client);
    client.on('error', () => undefined);
    client.once('end', () => this.clients.delete(client));
    if (this.killed) breakOff(client);
  }

  protected send<Row extends object>(text: string, values: unknown[]): Promise<Answer<Row>> {
    return this.pool.query(text, values);
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

  protected tearDown(): void {
    for (const client of this.clients) breakOff(client);
  }

  protected async disconnect(): Promise<void> {
    if (!this.pool.ended) await this.pool.end();
  }
}

function breakOff(client: pg.ClientBase): void {
  // Not in the types: the driver's own connection and its socket.
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
}
