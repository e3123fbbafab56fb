import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@/lib/database/database';
import { DatabaseFailure, type FailureCode } from '@/lib/database/failure';
import type { Failure } from '@/lib/diagnosis/evidence/circumstances';
import { VERDICT_RULES } from '@/lib/diagnosis/judge/verdict-registry.gen';
import { METRIC_AGGREGATES } from '@/lib/figures/summarise';
import type { History, Head } from '@/lib/history/history';
import type { Aggregates, Past, Reading } from '@/lib/live/reading';
import { NotComputed, readNow, type Compute } from '@/lib/live/take-reading';
import { countByServer, type OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import { createOnce, type Once } from '@/lib/shared/async/once';
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import { Queue, type Ticket } from '@/lib/shared/async/queue';
import { within } from '@/lib/shared/async/within';
import { SHARED_SLOW_MS } from '@/lib/shared/polling';
import { Problem, type ProblemCode } from '@/lib/shared/problems';

/** Readings this old are forgotten: no verdict looks further back. */
const REMEMBERED_MS = 900_000;
const DEAR_MS = 1_000;
/** Whoever asks for all has each outbox of a server with more of them than this read half as often, and not all in the same moment. */
const MANY_ON_ONE_SERVER = 50;
/** A reading under way for longer is late, whoever asks; it is not while it waits for its turn. */
const LATE_MS = 2_500;
/** Who wants a reading begun after the question shares the next one with all who do, and there is none sooner than this. */
const NEXT_AFTER_MS = 1_000;

/** What is known of an outbox at this moment. */
export interface Answer {
  /** As last bound; null when its table has never been seen. */
  outbox: Outbox | null;
  /** The newest reading, however old; null when there has been none. */
  reading: Reading | null;
  /** Where the rollups ended when it was taken; null where nothing is collected, or the store could not be asked. */
  head: Head | null;
  /** Age of the reading in milliseconds since it was begun. */
  ageMs: number;
  /** Why the newest attempt failed, or is taking longer than the caller waits; null when the reading is the newest. */
  failure: Failure | null;
  /** Readings of the last 15 minutes before this one, oldest first. */
  previous: readonly Past[];
  /** What all readings of the outbox have cost since the process started. */
  cost: ReadingCost;
  /** What the attempt under way will have brought, whoever began it; null while there is none. Never rejects. */
  coming: Promise<Answer> | null;
  /** What is made of this reading, once for all who look at it. */
  once: Once;
}

export interface ReadingCost {
  /** Readings made, failed ones included: one statement each. */
  readings: number;
  /** Rows of the outbox's tables that they looked at. */
  rows: number;
  milliseconds: number;
}

/** How a caller wants its answer, in milliseconds. */
export interface CachePolicy {
  /** One reading serves all who ask within so long, longer where it is dear; zero: one begun after the question, at most one a second. */
  sharedMs: number;
  /** It waits this long and then takes what there is. */
  waitMs: number;
  /** It waits only this long where the last attempt failed; as long as ever when left out. */
  failingMs?: number;
  /** It asks for many outboxes: each is read when it is its turn, so that the server is never asked for all of them at once. */
  inTurn?: {
    /** It takes a reading that is no older than this, having waited for `waitMs` only, and an older one after `olderMs`. */
    freshMs: number;
    waitMs: number;
    olderMs: number;
  };
}

export interface Readings {
  /** Throws Problem `not_found` for an unknown id, and never for a source's failure: that is part of the answer. */
  latest(id: string, policy: CachePolicy): Promise<Answer>;
  /** For how many milliseconds one reading serves everybody who asks for it like this, while all is well. */
  servesMs(id: string, policy: CachePolicy): number;
}

interface ReadingsOptions {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Computes the figures of databases that do not do it themselves; null: those have none. */
  compute: Compute | null;
  /** Told when an outbox begins to fail, or fails in another way. */
  onFailure?: (outbox: string, error: unknown) => void;
}

/** One outbox: its newest reading and the attempt under way. */
type Entry = ReturnType<typeof newEntry>;
const newEntry = () => ({
  outbox: null as Outbox | null,
  reading: null as Reading | null,
  head: null as Head | null,
  readAt: -Infinity,
  failure: null as Failure | null,
  triedAt: -Infinity,
  /** The store did not answer the last attempt. */
  historyFails: false,
  /** How long the last attempt took, in milliseconds. */
  tookMs: 0,
  inFlight: null as Promise<void> | null,
  /** When the next reading may begin, for those who wait for it; null while nobody does. */
  next: null as Promise<unknown> | null,
  /** Its place in the queue, while it waits there; and that somebody waits for this one alone. */
  ticket: null as Ticket | null,
  hurried: false,
  /** When the attempt under way began to read; null while there is none. */
  startedAt: null as number | null,
  history: [] as Past[],
  cost: { readings: 0, rows: 0, milliseconds: 0 },
  once: createOnce(),
});

/** One reading per outbox for all who ask, whatever the window: single flight, and nothing is read while nobody asks. */
export function createReadings(
  directory: OutboxDirectory,
  history: History | null,
  { now, compute, onFailure }: ReadingsOptions,
): Readings {
  const entries = new Map<string, Entry>();
  const queues = new Map<string, Queue>();
  const neighbours = countByServer(directory);
  const places = new Map(directory.ids.map((id, place) => [id, place]));

  /** Of the server an outbox is on: half of what may be read with there, so that lists and pages find the other half. */
  function queueOf(database: Database): Queue {
    const { server, roles } = database.status();
    const queue = queues.get(server.key) ?? new Queue(Math.max(1, Math.floor((roles.reader?.limit ?? 1) / 2)));
    queues.set(server.key, queue);
    return queue;
  }

  /** Where the rollups end; without a store that answers the figures are of now only, which is told once. */
  async function headOf(id: string, entry: Entry): Promise<Head | null> {
    try {
      const head = (await history?.head(id)) ?? null;
      entry.historyFails = false;
      return head;
    } catch (error) {
      if (!entry.historyFails) onFailure?.(id, error);
      entry.historyFails = true;
      return null;
    }
  }

  /** When it is its turn; answers what gives the turn back. */
  async function turnOf(id: string, entry: Entry, inTurn: boolean): Promise<() => void> {
    const database = directory.database(id);
    // Nobody's turn is spent on finding out that a database is away.
    await database.reachable();
    const ticket = queueOf(database).enter(database.id);
    entry.ticket = ticket;
    if (!inTurn || entry.hurried) ticket.hurry();
    await ticket.turn;
    entry.ticket = null;
    return () => ticket.leave();
  }

  async function read(id: string, entry: Entry, inTurn: boolean): Promise<void> {
    let begun = now();
    let leave = (): void => undefined;
    let rows = 0;
    entry.triedAt = begun;
    entry.hurried = false;
    try {
      // The rollups first: what is folded while the table is read is in neither of them twice.
      const head = await headOf(id, entry);
      leave = await turnOf(id, entry, inTurn);
      begun = now();
      entry.startedAt = begun;
      const outbox = await directory.last(id);
      if (outbox !== entry.outbox) Object.assign(entry, { outbox, once: createOnce() });
      const reading = await takeReading(outbox, head?.progress.foldedTo ?? null, compute);
      rows = reading.rowsRead;
      Object.assign(entry, { reading, head, readAt: begun, failure: null, once: createOnce() });
      remember(entry, reading);
    } catch (error) {
      const kind = kindOf(error);
      // The table is another one than it was: it is looked at again before the next reading.
      if (kind === 'missing' || kind === 'unusable' || kind === 'no_privilege' || kind === 'outdated') directory.forget(id);
      if (entry.failure?.kind !== kind) onFailure?.(id, error);
      entry.failure = { kind, since: entry.failure?.since ?? new Date(begun).toISOString() };
    } finally {
      leave();
      entry.startedAt = null;
    }
    entry.tookMs = now() - begun;
    const { cost } = entry;
    entry.cost = { readings: cost.readings + 1, rows: cost.rows + rows, milliseconds: cost.milliseconds + entry.tookMs };
  }

  /** Whoever waits for this one outbox does not wait for the others that are read in turn. */
  function hurry(entry: Entry): void {
    entry.hurried = true;
    entry.ticket?.hurry();
  }

  const answerOf = (entry: Entry, failure = entry.failure): Answer => ({
    outbox: entry.outbox,
    reading: entry.reading,
    head: entry.head,
    ageMs: now() - entry.readAt,
    failure,
    previous: entry.history.filter((past) => entry.reading !== null && past.asOf < entry.reading.asOf),
    cost: entry.cost,
    coming: entry.inFlight?.then(() => answerOf(entry)) ?? null,
    once: entry.once,
  });

  const isOneOfMany = (id: string, inTurn: CachePolicy['inTurn']): boolean => inTurn !== undefined && neighbours(id) > MANY_ON_ONE_SERVER;

  const servesMs = (id: string, { sharedMs, inTurn }: Pick<CachePolicy, 'sharedMs' | 'inTurn'>): number =>
    isOneOfMany(id, inTurn) ? 2 * sharedMs : sharedMs;

  /** When the piece of time began that `asked` lies in; of many outboxes each has pieces of its own, evenly one after the other. */
  function pieceBegan(id: string, asked: number, policy: Pick<CachePolicy, 'sharedMs' | 'inTurn'>): number {
    const pieceMs = servesMs(id, policy);
    const shiftMs = isOneOfMany(id, policy.inTurn) ? Math.floor(((places.get(id) ?? 0) / places.size) * pieceMs) : 0;
    return pieceMs === 0 ? asked : asked - ((asked - shiftMs) % pieceMs);
  }

  /** When a reading that begins after the question may begin, or has begun: one under way before it does not count. null: now. */
  function nextAfter(entry: Entry, asked: number, oldest: number): Promise<unknown> | null {
    if (entry.inFlight !== null) return entry.triedAt < asked ? entry.inFlight.then(() => nextAfter(entry, asked, oldest)) : null;
    const waitMs = Math.min(NEXT_AFTER_MS, entry.triedAt + NEXT_AFTER_MS - now());
    if (entry.triedAt >= oldest || waitMs <= 0) return null;
    entry.next ??= sleep(waitMs).finally(() => (entry.next = null));
    return entry.next;
  }

  async function latest(id: string, { sharedMs, waitMs, failingMs = waitMs, inTurn }: CachePolicy): Promise<Answer> {
    directory.settings(id);
    const entry = entries.get(id) ?? newEntry();
    entries.set(id, entry);
    const asked = now();
    const oldest = Math.min(pieceBegan(id, asked, { sharedMs, inTurn }), asked - dearMs(entry));
    const serve = async (): Promise<void> => {
      const next = sharedMs === 0 ? nextAfter(entry, asked, oldest) : null;
      if (next !== null) await next;
      if (entry.inFlight === null && entry.triedAt >= oldest) return;
      entry.inFlight ??= read(id, entry, inTurn !== undefined).finally(() => (entry.inFlight = null));
      if (inTurn === undefined) hurry(entry);
      await entry.inFlight;
    };
    const wait = entry.failure !== null ? failingMs : waitFor(entry, asked, inTurn, waitMs);
    const inTime = await within(
      serve().then(() => true),
      wait,
    );
    const late = inTime === null && (inTurn === undefined || isLate(entry, now()));
    const slow: Failure | null = late ? { kind: 'timeout', since: new Date(entry.triedAt).toISOString() } : null;
    return answerOf(entry, entry.failure ?? slow);
  }

  return { servesMs, latest: (id, policy) => outsideRequests(() => latest(id, policy)) };
}

function waitFor({ reading, readAt }: Entry, asked: number, inTurn: CachePolicy['inTurn'], waitMs: number): number {
  if (inTurn === undefined || reading === null) return waitMs;
  return asked - readAt < inTurn.freshMs ? inTurn.waitMs : Math.min(waitMs, inTurn.olderMs);
}

/** Of an attempt that waits for its turn nothing can be said yet. */
const isLate = ({ startedAt }: Entry, now: number): boolean => startedAt !== null && now - startedAt >= LATE_MS;

/** A reading this dear, and one that failed, serves everybody for as long as any may; a cheaper one need not. */
function dearMs({ failure, tookMs }: Entry): number {
  return failure !== null || tookMs > DEAR_MS ? SHARED_SLOW_MS : 0;
}

/** Keeps the figures verdicts compare with, not the types and slices: those are the bulk of a reading. */
function remember(entry: Entry, { asOf, figures, reach }: Reading): void {
  const oldest = Date.parse(asOf) - REMEMBERED_MS;
  entry.history = [...entry.history.filter((past) => Date.parse(past.asOf) >= oldest), { asOf, figures, reach }].sort((a, b) =>
    a.asOf < b.asOf ? -1 : 1,
  );
}

const KINDS: Partial<Record<FailureCode | ProblemCode, Failure['kind']>> = {
  timeout: 'slow',
  locked: 'slow',
  busy: 'slow',
  connection: 'unavailable',
  unavailable: 'unavailable',
  no_privilege: 'no_privilege',
  missing: 'missing',
  not_found: 'missing',
  outdated: 'outdated',
};

function kindOf(error: unknown): Failure['kind'] {
  if (error instanceof NotComputed) return 'no_store';
  const failure = error instanceof Problem && error.cause instanceof DatabaseFailure ? error.cause : error;
  return (failure instanceof DatabaseFailure || failure instanceof Problem ? KINDS[failure.code] : null) ?? 'unusable';
}

/** What metrics and verdicts want of the one statement of a reading. */
export const AGGREGATES: readonly Aggregates[] = [...METRIC_AGGREGATES, ...VERDICT_RULES.flatMap(({ live }) => live ?? [])];

/** A reading with everything that metrics and verdicts are made of. Throws DatabaseFailure and NotComputed. */
export const takeReading = (outbox: Outbox, foldedTo: string | null, compute: Compute | null = null): Promise<Reading> =>
  readNow(outbox, { foldedTo, aggregates: AGGREGATES, compute });
