import type { Outbox } from '@/lib/outbox/outbox';
import type { EngineKey } from '@/lib/shared/model';
import type { Cures } from './cures/cures';
import { mysqlCures } from './cures/mysql';
import { postgresCures } from './cures/postgres';
import type { Facts } from './facts/facts';
import { readMysqlFacts } from './facts/mysql';
import { readPostgresFacts } from './facts/postgres';

/** What differs between databases: where facts come from, and how a cure is written. */
export interface DoctorEngine {
  /** `now` is the console's clock, in milliseconds since the epoch. */
  readFacts(outbox: Outbox, now: () => number): Promise<Facts>;
  cures(outbox: Outbox): Cures;
}

const ENGINES: Record<EngineKey, DoctorEngine> = {
  postgres: { readFacts: readPostgresFacts, cures: ({ database }) => postgresCures(database.engine) },
  mysql: { readFacts: readMysqlFacts, cures: ({ database }) => mysqlCures(database.engine) },
};

export const doctorEngine = (key: EngineKey): DoctorEngine => ENGINES[key];
