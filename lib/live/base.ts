import { sql } from 'kysely';
import { isState, type Figures, type Sql } from '@/lib/outbox/scan/sql-terms';
import type { Traits } from '@/lib/outbox/scan/traits';

/**
 * The columns of the base every figure of now is an aggregate over: the open and dead rows, and those published since
 * the collector last folded. What was published before is in the rollups.
 */
export interface Base {
  traits: Traits;
  /** The moment of the reading by the clock of the database that was read. */
  now: Sql;
  /** A code: compare with `isState`. */
  state: Sql;
  type: Sql;
  created: Sql;
  published: Sql;
  /** When the relay last took the row. */
  attempted: Sql;
  /** When a dead row died, as near as the table tells. */
  died: Sql;
  attempts: Sql;
  /** Error of a row that failed and is not out, cut short. */
  error: Sql;
  /** Aggregate of a row, cut short. */
  key: Sql;
  /** Number of the transaction that last wrote a waiting row, and of the one that last took it or tried to; NULL where the engine does not tell. */
  written: Sql;
  taken: Sql;
  publishedLately: Sql;
  /** How many events are dead: rows of only the newest of them are in the base. */
  deadCount: Sql;
  /** The newest time of publishing in the table. */
  lastPublished: Sql;
  /** The newest creation among all published events: how far the relay has come. */
  frontier: Sql;
  /** The newest transaction that tried any waiting event, and the one that last touched the first of them (`touches`). */
  touch: Sql;
  headTouch: Sql;
  /** Whether the database keeps rows of its tables from the console's role. */
  hidden: Sql;
  /** What the server says of the replication slots behind it, as JSON; null where none can be looked at, or the rows tell. */
  slots: Sql | null;
}

/** Aggregates over the base that one of its readers owns: a metric or a verdict's rule. */
export interface Aggregates {
  owner: string;
  /** Undefined where this outbox has none. */
  figures?(base: Base): Figures | undefined;
  /** The same of each event type: columns of `types`, called as `typed` says. */
  perType?(base: Base): Figures | undefined;
  /** What is known of each type goes into the answer too, and not only into other figures. */
  showsTypes: boolean;
}

export function baseOf({ traits, now, deadCount, hidden, slots }: Pick<Base, 'traits' | 'now' | 'deadCount' | 'hidden' | 'slots'>): Base {
  return {
    traits,
    now,
    state: sql.ref('state'),
    type: sql.ref('type'),
    created: sql.ref('created'),
    published: sql.ref('published'),
    attempted: sql.ref('attempted'),
    died: sql.ref('died'),
    attempts: sql.ref('attempts'),
    error: sql.ref('error'),
    key: sql.ref('key'),
    written: sql.ref('written'),
    taken: sql.ref('taken'),
    publishedLately: isState(sql.ref('state'), 'published'),
    deadCount,
    lastPublished: sql`(select last_published from edges)`,
    frontier: sql`(select frontier from edges)`,
    touch: sql`(select touch from edges)`,
    headTouch: sql`(select head_touch from edges)`,
    hidden,
    slots,
  };
}
