/** What starter and world process say to each other. */
export interface WorldOrder {
  postgresUrl: string;
  postgresPid: number;
  storeUrl: string;
  configPath: string;
  seed: string;
  /** Where the outbox that is at home on MySQL is to be; undefined: with the others. */
  mysqlUrl: string | undefined;
  /** What the configuration says of pages elsewhere that show cards. */
  embedding: Record<string, unknown>;
}

export type ToWorld =
  | { kind: 'start'; order: WorldOrder }
  /** The leader of the console's process group, for the case that the starter dies without a word. */
  | { kind: 'console'; pid: number }
  /** PostgreSQL was started again. */
  | { kind: 'postgres'; pid: number }
  | { kind: 'stop' };

export type FromWorld = { kind: 'started'; sinkUrl: string; databases: Record<string, string> } | { kind: 'broken'; message: string };
