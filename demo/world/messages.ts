/** What starter and world process say to each other. */
export interface WorldOrder {
  postgresUrl: string;
  postgresPid: number;
  storeUrl: string;
  configPath: string;
  seed: string;
}

export type ToWorld = { kind: 'start'; order: WorldOrder } | { kind: 'stop' };

export type FromWorld = { kind: 'started'; sinkUrl: string; databases: Record<string, string> } | { kind: 'broken'; message: string };
