/** What differs between the servers a demo service can have its outbox on. */

/** What a statement answered: its rows, and how many rows it was about. */
export interface Answer<Row> {
  rows: Row[];
  rowCount: number | null;
}

/** Whatever statements can be sent through, parameters numbered `$1`: a connection, or one that waits out an outage. */
export interface Connection {
  query<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Answer<Row>>;
}

export interface OpenConnection extends Connection {
  end(): Promise<void>;
}

/** A server as the services speak to it; its sessions are in UTC. */
export interface ServiceEngine {
  /** One connection. Its loss shows in the next statement. */
  open(url: string): Promise<OpenConnection>;
  /** Whether the connection is what failed, so that another one may do. */
  isLost(error: unknown): boolean;
  /** SQL for the clock, in columns that are UTC without saying so. */
  now: string;
  /** SQL for so many milliseconds before that; `parameter` as in `$1`. */
  before(parameter: string): string;
  /** Runs an INSERT of one row; answers the number the table gave it. */
  insertCounted(connection: Connection, statement: string, values: unknown[]): Promise<string>;
  /** Inserts many in a few statements; `columns` names each column with its type. */
  insertRows(connection: Connection, table: string, columns: Record<string, string>, rows: Record<string, unknown>[]): Promise<void>;
  businessTable(name: string): string;
  /** Writes a row of the business table, new or not: `$1` its id, `$2` status, `$3` amount, `$4` currency. */
  putBusiness(name: string): string;
  /** Tells the planner what is in the table. */
  analyze(table: string): string;
}
