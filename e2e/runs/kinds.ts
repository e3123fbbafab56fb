/** The five tables of record as the runs of the checker find them: what is planted, and a relay that publishes what is pending. */
import type { Connection } from '@/demo/database/service';
import type { Random } from '@/demo/random';
import type { PastEvent } from '@/demo/schema/table';
import type { EngineKey } from '@/lib/shared/model';
import type { State } from '@/lib/shared/states';
import { CONTENDERS, type Contender } from '../races/contenders';
import { makeEvent } from '../races/traffic';

/** The error that planted events died of, and one that they never had. */
export const EARLIER_ERROR = 'broker said no';
export const OTHER_ERROR = 'consumer refused the schema';

export interface Kind {
  contender: Contender;
  /** What runs do, and the states that they are planned from. */
  runs: Record<string, State[]>;
  /** Tables whose rows somebody may hold; the relay takes those of the first. */
  tables: readonly [string, ...string[]];
  /** SQL of rows that wait: those that the relay takes at once, and those that it takes now and then. */
  fresh: string;
  late: string | null;
  /** SQL that marks rows as sent. */
  out: string;
  /** SQL statements after a failed attempt; null where no failure leaves a trace. `dies`: it was the last. */
  fails: ((error: string, dies: boolean) => { set: string; move: string | null }) | null;
  /** SQL after planting, for what no service writes itself. */
  afterPlanting?: (engine: EngineKey) => string;
}

const contender = (key: string, engine: EngineKey): Contender => {
  const found = CONTENDERS.find((one) => one.key === key && one.engine === engine);
  if (found === undefined) throw new Error(`no contender ${key}`);
  return found;
};

const worker = (engine: EngineKey): Kind => ({
  contender: contender('worker-status', engine),
  runs: { release: ['processing'], archive: ['pending'] },
  tables: ['outbox_events'],
  fresh: "status = 'PENDING'",
  late: null,
  out: "status = 'PROCESSED', processed_at = now()",
  fails: null,
  // Taken by a relay that is no more, long enough ago.
  afterPlanting: (of) =>
    `UPDATE outbox_events SET status = 'PROCESSING', updated_at = ${of === 'postgres' ? "now() - interval '1 hour'" : 'utc_timestamp() - interval 1 hour'}`,
});

export const KINDS: readonly Kind[] = [
  {
    contender: contender('escrow-status', 'postgres'),
    runs: { requeue: ['dead', 'retrying'], archive: ['dead', 'retrying'] },
    tables: ['p2p.transaction_outbox'],
    fresh: "status = 'pending' AND retry_count = 0",
    late: "status = 'pending' AND retry_count > 0",
    out: "status = 'processed', processed_time = now(), last_attempt_time = now()",
    fails: (error, dies) => ({
      set: `retry_count = retry_count + 1, error_message = '${error}', last_attempt_time = now()${dies ? ", status = 'failed'" : ''}`,
      move: null,
    }),
  },
  {
    contender: contender('published-at', 'postgres'),
    runs: { requeue: ['dead', 'retrying'], archive: ['dead', 'retrying'] },
    tables: ['outbox_events', 'outbox_dead'],
    fresh: 'published_at IS NULL AND attempt = 0',
    late: 'published_at IS NULL AND attempt > 0',
    out: 'published_at = now()',
    fails: (error) => ({ set: 'attempt = attempt + 1', move: `moved.*, now(), '${error}'` }),
  },
  {
    contender: contender('listen-notify', 'postgres'),
    runs: { requeue: ['dead', 'retrying'], archive: ['dead', 'retrying'] },
    tables: ['outbox', 'outbox_dead'],
    fresh: 'processed_at IS NULL AND retry_count = 0',
    late: 'processed_at IS NULL AND retry_count > 0',
    out: 'processed_at = now()',
    fails: (error) => ({ set: `retry_count = retry_count + 1, last_error = '${error}'`, move: 'moved.*, now()' }),
  },
  worker('postgres'),
  {
    contender: contender('courier-status', 'postgres'),
    runs: { archive: ['pending'] },
    tables: ['outbox'],
    fresh: "status = 'PENDING'",
    late: null,
    out: "status = 'PROCESSED'",
    fails: null,
  },
  worker('mysql'),
];

/** Dead or stuck events, some of them retrying where the shape knows that; several of an aggregate. Answers their ids, oldest first. */
export async function plant(
  kind: Kind,
  db: Connection,
  hand: Random,
  count: number,
  { quiet, operation }: { quiet: boolean; operation: string },
): Promise<string[]> {
  const { contender: of, tables } = kind;
  const created = Date.now() - 600_000;
  const past = Array.from({ length: count }, (_, at): PastEvent => {
    const retries = kind.late !== null && !quiet && hand.chance(0.35);
    return {
      event: { ...makeEvent(of, hand), aggregateId: `order-${String(hand.int(1, count))}` },
      createdAt: new Date(created + at * 1_000),
      state: retries || kind.late === null ? 'pending' : 'dead',
      endedAt: new Date(created + at * 1_000 + 500),
      attempts: retries ? hand.int(1, 3) : (of.parameters.maxAttempts ?? 1),
      error: EARLIER_ERROR,
    };
  });
  await of.table.insertPast(db, past);
  if (kind.afterPlanting !== undefined && operation !== 'archive') await db.query(kind.afterPlanting(of.engine));
  const found: { id: string; at: string }[] = [];
  for (const table of tables)
    found.push(...(await db.query<{ id: string; at: string }>(`SELECT id, ${createdAt(kind)} AS at FROM ${table}`)).rows);
  return found.sort((one, other) => Number(new Date(one.at)) - Number(new Date(other.at))).map(({ id }) => String(id));
}

const createdAt = ({ contender: { key } }: Kind): string => (key === 'escrow-status' ? 'create_time' : 'created_at');

/** The rows of these ids, as a condition. */
export const among = (ids: readonly string[]): string => `id IN (${ids.map((id) => `'${id}'`).join(', ')})`;
