/** The observed tables, read and written directly: what a story asserts besides the page. */
import pg from 'pg';

export interface Database {
  query<T extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>;
  /** The first row; throws when there is none. */
  one<T extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T>;
  /** A connection of its own, for holding a lock; ended by the caller. */
  connect(): Promise<pg.Client>;
  close(): Promise<void>;
}

export function openDatabase(url: string): Database {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {});
  const query = async <T extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T[]> => {
    const { rows } = await pool.query<T>(text, values);
    return rows;
  };
  return {
    query,
    async one<T extends pg.QueryResultRow>(text: string, values?: unknown[]) {
      const [row] = await query<T>(text, values);
      if (!row) throw new Error(`No row for: ${text}`);
      return row;
    },
    async connect() {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return client;
    },
    close: () => pool.end(),
  };
}
