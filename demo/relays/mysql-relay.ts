import type { Socket } from 'node:net';
import mysql from 'mysql2';
import type { Answer } from '../database/service';
import { ask, mysqlSession, SESSION } from '../database/mysql';
import { RelayBody, type RelayOptions } from './relay';

/** A relay on MySQL or MariaDB, with a pool that can be torn down. */
export class MysqlRelay extends RelayBody {
  private readonly pool: mysql.Pool;
  private readonly connections = new Set<mysql.PoolConnection>();
  private ending: Promise<void> | null = null;

  constructor(options: RelayOptions) {
    super(options);
    this.pool = mysql.createPool({ ...mysqlSession(options.connectionString), connectionLimit: 10 });
    this.pool.on('connection', (connection) => this.watch(connection));
  }

  private watch(connection: mysql.PoolConnection): void {
    this.connections.add(connection);
    // A lost connection shows in the next statement; without a listener it would end the process.
    connection.on('error', (error) => {
      this.connections.delete(connection);
      this.log(`connection lost: ${error.message}`);
    });
    connection.query(SESSION);
    if (this.killed) breakOff(connection);
  }

  protected send<Row extends object>(text: string, values: unknown[]): Promise<Answer<Row>> {
    return ask<Row>(this.pool, text, values);
  }

  protected tearDown(): void {
    for (const connection of this.connections) breakOff(connection);
  }

  protected disconnect(): Promise<void> {
    this.ending ??= new Promise((resolve) => this.pool.end(() => resolve()));
    return this.ending;
  }
}

/** The driver's own `destroy` says goodbye, and whoever waits for an answer would wait for ever. */
function breakOff(connection: mysql.PoolConnection): void {
  (connection as unknown as { stream: Socket }).stream.destroy();
}
