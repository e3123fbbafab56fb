import type { Outbox } from '@/lib/outbox/outbox';
import type { EngineKey } from '@/lib/shared/model';
import type { Cures } from './cures/cures';
import { postgresCures } from './cures/postgres';
import type { Facts } from './facts/facts';
import { readPostgresFacts } from './facts/postgres';

/** What differs between databases: where facts come from, and how a cure is written. */
export interface DoctorEngine {
  /** `now` is the console's clock, in milliseconds since the epoch. */
  readFacts(outbox: Outbox, now: () => number): Promise<Facts>;
  cures(outbox: Outbox): Cures;
}

const ENGINES: Partial<Record<EngineKey, DoctorEngine>> = {
  postgres: { readFacts: readPostgresFacts, cures: ({ database }) => postgresCures(database.engine.quote) },
};

/** Throws for an engine whose tables the doctor does not know. */
export function doctorEngine(key: EngineKey): DoctorEngine {
  const engine = ENGINES[key];
  if (engine === undefined) throw new Error(`the doctor does not know ${key}`);
  return engine;
}
