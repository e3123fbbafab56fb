import { setTimeout as sleep } from 'node:timers/promises';
import { byCode, DatabaseFailure } from '@/lib/database/failure';
import { TOUCHED_DEAD } from '@/lib/diagnosis/evidence/acted';
import type { Failure } from '@/lib/diagnosis/evidence/circumstances';
import { VERDICT_RULES } from '@/lib/diagnosis/judge/verdict-registry.gen';
import { METRIC_AGGREGATES } from '@/lib/figures/summarise';
import type { History, Head } from '@/lib/history/history';
import type { Aggregates, Past, Reading } from '@/lib/live/reading';
import { NotComputed, readNow, type Compute } from '@/lib/live/take-reading';
import { countByServer, type OutboxDirectory } from '@/lib/outbox/directory';
import { ACTED_SECONDS } from '@/lib/outbox/acted';
import type { Outbox } from '@/lib/outbox/outbox';
import { createOnce, type Once } from '@/lib/shared/async/once';
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import { queuesOf, type Ticket } from '@/lib/shared/async/queue';
import { within } from '@/lib/shared/async/within';
import { getOrMake } from '@/lib/shared/group-by';
import { SHARED_SLOW_MS } from '@/lib/shared/polling';
import type { Verdict } from '@/lib/shared/figures/verdicts';
import { Problem } from '@/lib/shared/problems';

/** Readings older than this are dropped: no verdict needs them. */
const REMEMBERED_MS = 900_000;
const DEAR_MS = 1_000;
/** If a server has more outboxes than this, requests for all of them read each half as often, and not all at the same moment. */
const MANY_ON_ONE_SERVER = 50;
/** A reading under way for longer is late; waiting for its turn does not count. */
const LATE_MS = 2_500;
/** Callers that want a reading begun after their request share the next one; it begins at least this long after the last. */
const NEXT_AFTER_MS = 1_000;

/** What is known of an outbox now. */
export interface Answer {
  /** As last bound; null if its table has never been read. */
  outbox: Outbox | null;
  /** The newest reading, however old; null when there has been none. */
  reading: Reading | null;
  /** Where the rollups ended when it was taken; null if nothing is collected, or the store did not answer. */
  head: Head | null;
  /** Since when verdicts hold, as last entered in the store. */
  open: ReadonlyMap<Verdict, string>;
  /** Age of the reading in milliseconds since it was begun. */
  ageMs: number;
  /** Why the newest attempt failed, or is taking longer than the caller waits; null when the reading is the newest. */
  failure: Failure | null;
  /** Readings of the last 15 minutes before this one, oldest first. */
  previous: readonly Past[];
  /** What all readings of the outbox have cost since the process started. */
  cost: ReadingCost;
  /** The answer after the attempt under way; null if there is none. Never rejects. */
  coming: Promise<Answer> | null;
  /** Computes something from this reading once for all callers. */
  once: Once;
}

export interface ReadingCost {
  /** Readings made, failed ones included: one statement each. */
  readings: number;
  /** Rows of the outbox's tables that they read. */
  rows: number;
  milliseconds: number;
}

/** How a caller wants its answer, in milliseconds. */
export interface CachePolicy {
  /** One reading serves all requests within this time, longer if it is slow; zero: one begun after the request, at most one per second. */
  sharedMs: number;
  /** It waits this long, then takes what there is. */
  waitMs: number;
  /** It waits only this long if the last attempt failed; `waitMs` when left out. */
  failingMs?: number;
  /** It requests many outboxes: each is read in turn, so that the server never gets all of them at once. */
  inTurn?: {
    /** It takes a reading that is at most this old after `waitMs`, and an older one after `olderMs`. */
    freshMs: number;
    waitMs: number;
    olderMs: number;
  };
}

export interface ReadingsOptions {
  /** What was collected; without it only current figures are known. */
  history: History | null;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Computes the figures of databases that cannot do it themselves (MySQL, MariaDB); without it those have none. */
  compute: Compute | null;
  /** Called when an outbox begins to fail, or fails in another way; for the log. */
  onFailure?: (outbox: string, error: unknown) => void;
}

/** One outbox: its newest reading and the attempt under way. */
type Entry = ReturnType<typeof newEntry>;
const newEntry = () => ({
  outbox: null as Outbox | null,
  reading: null as Reading | null,
  head: null as Head | null,
  open: new Map() as ReadonlyMap<Verdict, string>,
  /** When operators last acted, as the store last said, ISO 8601 UTC. */
  actedAt: null as string | null,
  readAt: -Infinity,
  failure: null as Failure | null,
  triedAt: -Infinity,
  /** The store did not answer the last attempt. */
  historyFails: false,
  /** How long the last attempt took, in milliseconds. */
  tookMs: 0,
  inFlight: null as Promise<void> | null,
  /** When the next reading may begin, for requests that wait for it; null while there are none. */
  next: null as Promise<unknown> | null,
  /** Its place in the queue while it waits there, and whether a request waits for this outbox alone. */
  ticket: null as Ticket | null,
  hurried: false,
  /** When the attempt under way began to read; null while there is none. */
  startedAt: null as number | null,
  history: [] as Past[],
  cost: { readings: 0, rows: 0, milliseconds: 0 },
  once: createOnce(),
});

/** One reading per outbox for all requests, whatever the window: single flight, and nothing is read without a request. */
export function createReadings(directory: OutboxDirectory, { history, now, compute, onFailure }: ReadingsOptions) {
  const entries = new Map<string, Entry>();
  const queueOf = queuesOf();
  const neighbours = countByServer(directory);
  const places = new Map(directory.ids.map((id, place) => [id, place]));

  /** Where the rollups end; null if the store does not answer, which is reported once: only current figures are known then. */
  async function headOf(id: string, entry: Entry): Promise<Head | null> {
    try {
      const newest = await history?.head(id);
      entry.historyFails = false;
      entry.open = newest?.open ?? entry.open;
      return newest?.head ?? null;
    } catch (error) {
      if (!entry.historyFails) onFailure?.(id, error);
      entry.historyFails = true;
      return null;
    }
  }

  /** Waits for its turn; returns what gives the turn back. */
  async function turnOf(id: string, entry: Entry, inTurn: boolean): Promise<() => void> {
    const database = directory.database(id);
    // Before the turn: none is spent on a database that is unreachable.
    await database.reachable();
    const { server, roles } = database.status();
    // Half of the reader connections of its server, so that lists and pages have the other half.
    const ticket = queueOf(server.key, Math.max(1, Math.floor((roles.reader?.limit ?? 1) / 2))).enter(database.id);
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
      // The rollups first: what is collected while the table is read is not counted twice.
      const head = await headOf(id, entry);
      leave = await turnOf(id, entry, inTurn);
      begun = now();
      entry.startedAt = begun;
      const outbox = await directory.last(id);
      if (outbox !== entry.outbox) Object.assign(entry, { outbox, once: createOnce() });
      entry.actedAt = head?.acted?.last ?? entry.actedAt;
      const acted = entry.actedAt !== null && begun - Date.parse(entry.actedAt) < ACTED_SECONDS * 1_000;
      const reading = await takeReading(outbox, head?.progress.foldedTo ?? null, compute, acted);
      rows = reading.rowsRead;
      Object.assign(entry, { reading, head, readAt: begun, failure: null, once: createOnce() });
      remember(entry, reading);
    } catch (error) {
      const kind = kindOf(error);
      // The table may have changed: it is described again before the next reading.
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

  const answerOf = (entry: Entry, failure = entry.failure): Answer => {
    const { outbox, reading, head, open, cost, once } = entry;
    const previous = entry.history.filter((past) => reading !== null && past.asOf < reading.asOf);
    const coming = entry.inFlight?.then(() => answerOf(entry)) ?? null;
    return { outbox, reading, head, open, cost, once, failure, previous, coming, ageMs: now() - entry.readAt };
  };

  const isOneOfMany = (id: string, inTurn: CachePolicy['inTurn']): boolean => inTurn !== undefined && neighbours(id) > MANY_ON_ONE_SERVER;

  /** For how many milliseconds one reading serves all requests with this policy, while all is well. */
  const servesMs = (id: string, { sharedMs, inTurn }: Pick<CachePolicy, 'sharedMs' | 'inTurn'>): number =>
    isOneOfMany(id, inTurn) ? 2 * sharedMs : sharedMs;

  /** The start of the sharing interval that `asked` is in; with many outboxes on a server they are spread evenly. */
  function pieceBegan(id: string, asked: number, policy: Pick<CachePolicy, 'sharedMs' | 'inTurn'>): number {
    const pieceMs = servesMs(id, policy);
    const shiftMs = isOneOfMany(id, policy.inTurn) ? Math.floor(((places.get(id) ?? 0) / places.size) * pieceMs) : 0;
    return pieceMs === 0 ? asked : asked - ((asked - shiftMs) % pieceMs);
  }

  /** When a reading that begins after the request may begin: one already under way does not count. null: now, or it has begun. */
  function nextAfter(entry: Entry, asked: number, oldest: number): Promise<unknown> | null {
    if (entry.inFlight !== null) return entry.triedAt < asked ? entry.inFlight.then(() => nextAfter(entry, asked, oldest)) : null;
    const waitMs = Math.min(NEXT_AFTER_MS, entry.triedAt + NEXT_AFTER_MS - now());
    if (entry.triedAt >= oldest || waitMs <= 0) return null;
    entry.next ??= sleep(waitMs).finally(() => (entry.next = null));
    return entry.next;
  }

  async function latest(id: string, { sharedMs, waitMs, failingMs = waitMs, inTurn }: CachePolicy): Promise<Answer> {
    directory.settings(id);
    const entry = getOrMake(entries, id, newEntry);
    const asked = now();
    const oldest = Math.min(pieceBegan(id, asked, { sharedMs, inTurn }), asked - dearMs(entry));
    const serve = async (): Promise<void> => {
      const next = sharedMs === 0 ? nextAfter(entry, asked, oldest) : null;
      if (next !== null) await next;
      if (entry.inFlight === null && entry.triedAt >= oldest) return;
      entry.inFlight ??= read(id, entry, inTurn !== undefined).finally(() => (entry.inFlight = null));
      // A request for this outbox alone does not wait for others that are read in turn.
      entry.hurried ||= inTurn === undefined;
      if (inTurn === undefined) entry.ticket?.hurry();
      await entry.inFlight;
    };
    const wait = entry.failure !== null ? failingMs : waitFor(entry, asked, inTurn, waitMs);
    const served = serve().then(() => true);
    const inTime = await within(served, wait);
    const late = inTime === null && (inTurn === undefined || isLate(entry, now()));
    const slow: Failure | null = late ? { kind: 'timeout', since: new Date(entry.triedAt).toISOString() } : null;
    return answerOf(entry, entry.failure ?? slow);
  }

  return {
    servesMs,
    /** Throws Problem `not_found` for an unknown id, and never for a failure of the database: that is part of the answer. */
    latest: (id: string, policy: CachePolicy): Promise<Answer> => outsideRequests(() => latest(id, policy)),
  };
}

function waitFor({ reading, readAt }: Entry, asked: number, inTurn: CachePolicy['inTurn'], waitMs: number): number {
  if (inTurn === undefined || reading === null) return waitMs;
  return asked - readAt < inTurn.freshMs ? inTurn.waitMs : Math.min(waitMs, inTurn.olderMs);
}

/** An attempt that waits for its turn is not late. */
const isLate = ({ startedAt }: Entry, now: number): boolean => startedAt !== null && now - startedAt >= LATE_MS;

/** A reading that was slow or failed serves all requests for the longest time that is allowed. */
const dearMs = ({ failure, tookMs }: Entry): number => (failure !== null || tookMs > DEAR_MS ? SHARED_SLOW_MS : 0);

/** Keeps the figures that verdicts compare with, but no types and slices: those are most of a reading. */
function remember(entry: Entry, { asOf, figures, reach }: Reading): void {
  const oldest = Date.parse(asOf) - REMEMBERED_MS;
  const kept = entry.history.filter((past) => Date.parse(past.asOf) >= oldest);
  entry.history = [...kept, { asOf, figures, reach }].sort((a, b) => (a.asOf < b.asOf ? -1 : 1));
}

const KINDS = byCode<Failure['kind']>({
  slow: ['timeout', 'locked', 'busy'],
  unavailable: ['connection', 'unavailable'],
  no_privilege: ['no_privilege'],
  missing: ['missing', 'not_found'],
  outdated: ['outdated'],
});

function kindOf(error: unknown): Failure['kind'] {
  if (error instanceof NotComputed) return 'no_store';
  const failure = error instanceof Problem && error.cause instanceof DatabaseFailure ? error.cause : error;
  return (failure instanceof DatabaseFailure || failure instanceof Problem ? KINDS.get(failure.code) : null) ?? 'unusable';
}

export const AGGREGATES: readonly Aggregates[] = [...METRIC_AGGREGATES, TOUCHED_DEAD, ...VERDICT_RULES.flatMap(({ live }) => live ?? [])];

/** A reading with everything that metrics and verdicts need; `acted`: operators did something within a day. Throws DatabaseFailure and NotComputed. */
export function takeReading(outbox: Outbox, foldedTo: string | null, compute: Compute | null = null, acted = false): Promise<Reading> {
  const readable = outbox.records === 'countable' || outbox.records === 'unindexed';
  return readNow(outbox, { foldedTo, aggregates: AGGREGATES, compute, acted: acted && readable });
}
