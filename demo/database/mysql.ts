import mysql from 'mysql2';
import { mysqlFailure } from '@/lib/database/mysql/failure';
import { connectionOptions } from '@/lib/database/mysql/url';
import type { Answer, ServiceEngine } from './service';

const ROWS_PER_STATEMENT = 1_000;

export const mysqlService: ServiceEngine = {
  open(url) {
    const raw = mysql.createConnection(mysqlSession(url));
    raw.on('error', () => undefined);
    return new Promise((resolve, reject) => {
      raw.connect((error) => {
        if (error !== null) return reject(error);
        raw.query(SESSION);
        resolve({
          query: (text, values) => ask(raw, text, values),
          end: () => new Promise((done) => raw.end(() => done())),
        });
      });
    });
  },
  isLost: (error) => mysqlFailure(error).code === 'connection',
  now: 'utc_timestamp()',
  before: (parameter) => `(utc_timestamp() - INTERVAL ${parameter} * 1000 MICROSECOND)`,
  // The two servers have no one way of answering an INSERT with what it made.
  async insertCounted(connection, statement, values) {
    await connection.query(statement, values);
    const { rows } = await connection.query<{ id: string }>('SELECT cast(last_insert_id() AS char) AS id');
    return rows[0]?.id ?? '';
  },
  async insertRows(connection, table, columns, rows) {
    const names = Object.keys(columns);
    for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
      const some = rows.slice(start, start + ROWS_PER_STATEMENT);
      const lines = some.map((_, line) => `(${names.map((_, at) => `$${line * names.length + at + 1}`).join(', ')})`);
      await connection.query(
        `INSERT INTO ${table} (${names.join(', ')}) VALUES ${lines.join(', ')}`,
        some.flatMap((row) => names.map((name) => row[name] ?? null)),
      );
    }
  },
  businessTable: (name) =>
    `CREATE TABLE ${name} (id varchar(64) PRIMARY KEY, status varchar(64) NOT NULL, amount decimal(20, 2) NOT NULL, currency char(3) NOT NULL,
       updated_at datetime NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)`,
  putBusiness: (name) =>
    `INSERT INTO ${name} (id, status, amount, currency) VALUES ($1, $2, $3, $4) ON DUPLICATE KEY UPDATE status = VALUES(status)`,
  analyze: (table) => `ANALYZE TABLE ${table}`,
};

/** Sent first on every connection: columns without a zone are UTC, whatever the server's own zone is. */
export const SESSION = "SET time_zone = '+00:00'";

export function mysqlSession(url: string): mysql.ConnectionOptions {
  return {
    ...connectionOptions(url),
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    timezone: 'Z',
    connectAttributes: { program_name: 'demo' },
  };
}

/** Sends a statement with its parameters numbered, as the services write them, to a driver that takes them in order. */
export function ask<Row extends object>(to: mysql.Connection | mysql.Pool, text: string, values: unknown[] = []): Promise<Answer<Row>> {
  const ordered: unknown[] = [];
  const inOrder = text.replace(/\$(\d+)/g, (_, number: string) => {
    ordered.push(values[Number(number) - 1] ?? null);
    return '?';
  });
  return new Promise((resolve, reject) => {
    to.query(inOrder, ordered, (error, result) => {
      if (error !== null) return reject(error);
      if (Array.isArray(result)) return resolve({ rows: result as Row[], rowCount: result.length });
      resolve({ rows: [], rowCount: (result as mysql.ResultSetHeader).affectedRows });
    });
  });
}
