/** Why events died: the newest are read when the dead moved, all of them in rounds, a slice a tick; a new owner begins its round again. */
import { setImmediate as immediate } from 'node:timers/promises';
import { CauseTally } from '@/lib/outbox/lists/causes';
import { causeRows, causeWalk, DEAD_SCANNED_MAX, type DeadRow, type CauseWalk } from '@/lib/outbox/lists/dead-letters';
import type { List } from '@/lib/outbox/lists/walks';
import type { Outbox } from '@/lib/outbox/outbox';
import { CAUSES_MAX } from '@/lib/shared/dead-letter-groups';
import { putCauseRound, putNewestCauses, putRetryCauses, type CauseRound } from '@/lib/store/causes';
import { type Lease, underLease } from '@/lib/store/collector-leases';
import type { Store } from '@/lib/store/store';
import { Backoff, isSourceFailure, isTimeout } from './clock';
import { type Cost, NO_COST, sumOfCosts } from './progress';

/** The share of the time that reading them may take; the rest is of ticks. */
const CAUSES_DUTY = 0.05;
/** Rows of a round per tick, and per statement: fewer where that takes longer. */
const SLICE_ROWS = 5_000;
const STATEMENT_ROWS = { most: 2_500, least: 100 };
const TOOK_MS = { most: 60, least: 20 };
const STATEMENT_MS = 2_000;
/** What waits has no index of its own by whether it failed: what takes longer is left. */
const RETRYING_MS = 100;
/** The newest are read again after this long, whether or not anything is seen to have moved: not every change can be. */
const STANDS_MS = 60_000;
/** After a round, until the next one: where something moved meanwhile, and where nothing is seen to have. */
const REST_MS = { moved: 60_000, unmoved: 600_000 };
/** Causes counted in a round: with errors that no template joins, there may be as many as events. */
const TALLIED = 4 * CAUSES_MAX;
/** Events counted without a pause for other work of this process. */
const AT_ONCE = 250;

interface Counted {
  began: number;
  tally: CauseTally;
}

interface Round extends Counted {
  /** How the walk goes: with another index it begins again. */
  way: string;
  /** Of the walk's parts, the one that it is in, and behind which row. */
  part: number;
  after: DeadRow | null;
  /** The dead moved while they were counted. */
  moved: boolean;
}

type Part = 'dead' | 'retrying';

export class CauseCollector {
  /** What reading has cost since it was asked last. */
  private cost = NO_COST;
  private dueAt: Record<Part, number> = { dead: 0, retrying: 0 };
  private readonly pace: Record<Part, Backoff>;
  private rows = STATEMENT_ROWS.most;
  /** How the dead looked when their newest were read, and when. */
  private sight: string | null = null;
  private sightAt = -Infinity;
  private movedAt = -Infinity;
  private roundEndedAt = -Infinity;
  private roundBeganAt = -Infinity;
  private round: Round | null = null;
  private retrying = '';

  /** `share`: of the time that one outbox may take, where its server has many. */
  constructor(
    tickMs: number,
    share: number,
    private readonly rest = REST_MS,
  ) {
    const duty = CAUSES_DUTY * share;
    this.pace = { dead: new Backoff(tickMs, tickMs, duty), retrying: new Backoff(STANDS_MS, STANDS_MS, duty) };
  }

  takeCost(): Cost {
    const { cost } = this;
    this.cost = NO_COST;
    return cost;
  }

  /** Reads what is due; `depth` is what waits and is dead now. Returns the failure of the observed database, if any. Throws LeaseLost. */
  async work(lease: Lease, outbox: Outbox, store: Store, depth: { waiting: number; dead: number | null } | null): Promise<Error | null> {
    const dead = depth?.dead ?? null;
    const failed = dead === null ? null : await this.due('dead', () => this.readDead(lease, outbox, store, dead));
    const waits = depth !== null && (depth.waiting > 0 || this.retrying !== '');
    return (waits ? await this.due('retrying', () => this.readRetrying(lease, outbox, store)) : null) ?? failed;
  }

  private async due(part: Part, read: () => Promise<void>): Promise<Error | null> {
    if (Date.now() < this.dueAt[part]) return null;
    const pace = this.pace[part];
    const before = this.cost.milliseconds;
    let failed: Error | null = null;
    try {
      await read();
      pace.succeeded(this.cost.milliseconds - before);
    } catch (error) {
      if (!(error instanceof Error) || !isSourceFailure(error)) throw error;
      pace.failed(isTimeout(error));
      if (isTimeout(error)) this.rows = Math.max(STATEMENT_ROWS.least, this.rows / 2);
      failed = part === 'retrying' && isTimeout(error) ? null : error;
    }
    this.dueAt[part] = Date.now() + pace.everyMs;
    return failed;
  }

  private async readDead(lease: Lease, outbox: Outbox, store: Store, dead: number): Promise<void> {
    const walk = causeWalk(outbox, 'dead');
    if (walk === null) return;
    const [newest] = dead > 0 && walk.served ? await this.read(outbox, walk.list, null, 1) : [];
    const sight = JSON.stringify([dead, newest?.position, newest?.id, lease.acted?.last]);
    const moved = sight !== this.sight;
    if (moved) {
      this.movedAt = Date.now();
      if (this.round !== null) this.round.moved = true;
    }
    if (moved || (dead > 0 && Date.now() - this.sightAt >= STANDS_MS))
      await this.readNewest(lease, outbox, store, dead > 0 ? walk : null, moved);
    // Only now: what failed is read again.
    this.sight = sight;
    if (this.round?.way !== wayOf(walk)) this.round = null;
    if (this.round !== null) await this.readSlice(lease, outbox, store, walk.parts ?? [], this.round);
  }

  /** `walk`: null where none is dead. */
  private async readNewest(lease: Lease, outbox: Outbox, store: Store, walk: CauseWalk | null, moved: boolean): Promise<void> {
    const began = Date.now();
    const rows = walk === null ? [] : await this.read(outbox, walk.list, null, DEAD_SCANNED_MAX + 1);
    const tally = new CauseTally();
    await counted(tally, rows.slice(0, DEAD_SCANNED_MAX));
    const all = rows.length <= DEAD_SCANNED_MAX;
    if (all || walk?.parts === null) {
      await this.end(lease, store, { began, tally }, all && walk?.whole !== false ? 'exact' : 'sampled');
    } else {
      if (moved) await underLease(store, lease, (db) => putNewestCauses(db, lease.outbox, tally.causes()));
      const restMs = this.movedAt > this.roundBeganAt ? this.rest.moved : this.rest.unmoved;
      if (walk !== null && this.round === null && Date.now() - this.roundEndedAt >= restMs)
        this.round = { began, way: wayOf(walk), tally: new CauseTally(TALLIED), part: 0, after: null, moved: false };
    }
    this.sightAt = began;
  }

  private async readSlice(lease: Lease, outbox: Outbox, store: Store, parts: readonly List[], round: Round): Promise<void> {
    for (let left = SLICE_ROWS; left > 0;) {
      const list = parts[round.part];
      if (list === undefined) return this.end(lease, store, round, round.moved ? 'estimated' : 'exact');
      const limit = Math.min(left, Math.round(this.rows));
      const rows = await this.read(outbox, list, round.after, limit);
      await counted(round.tally, rows);
      left -= limit;
      if (rows.length < limit) Object.assign(round, { part: round.part + 1, after: null });
      else round.after = rows.at(-1) ?? null;
    }
  }

  private async end(lease: Lease, store: Store, { began, tally }: Counted, known: CauseRound['known']): Promise<void> {
    const { rows, others } = tally;
    const times = { beganAt: new Date(began).toISOString(), endedAt: new Date().toISOString() };
    await underLease(store, lease, (db) => putCauseRound(db, lease.outbox, tally.causes(), { ...times, rows, others, known }));
    this.round = null;
    [this.roundBeganAt, this.roundEndedAt] = [began, Date.now()];
  }

  private async readRetrying(lease: Lease, outbox: Outbox, store: Store): Promise<void> {
    const walk = outbox.main.roles.error === undefined ? null : causeWalk(outbox, 'retrying');
    if (walk?.served !== true) return;
    const tally = new CauseTally();
    await counted(tally, await this.read(outbox, walk.list, null, DEAD_SCANNED_MAX, RETRYING_MS));
    const causes = tally.causes();
    const told = causes.length === 0 ? '' : JSON.stringify(causes.map(({ id, count, lastSeenAt }) => [id, count, lastSeenAt]));
    if (told === this.retrying) return;
    await underLease(store, lease, (db) => putRetryCauses(db, lease.outbox, causes));
    this.retrying = told;
  }

  private async read(outbox: Outbox, list: List, after: DeadRow | null, limit: number, statementMs = STATEMENT_MS): Promise<DeadRow[]> {
    const began = performance.now();
    const rows = await causeRows(outbox, list, after, limit, statementMs);
    const milliseconds = performance.now() - began;
    this.cost = sumOfCosts(this.cost, { statements: 3, rows: rows.length, milliseconds });
    if (milliseconds > TOOK_MS.most && rows.length <= this.rows) this.rows = Math.max(STATEMENT_ROWS.least, this.rows / 2);
    else if (milliseconds < TOOK_MS.least && rows.length >= this.rows) this.rows = Math.min(STATEMENT_ROWS.most, this.rows * 2);
    return rows;
  }
}

const wayOf = ({ parts }: CauseWalk): string =>
  JSON.stringify(parts?.map(({ order, walks }) => [order.by, walks.map(({ at, index }) => [at.place.key, index?.name])]));

/** Templates are made of thousands of texts: in parts, so that nobody waits for all of them. */
async function counted(tally: CauseTally, rows: readonly DeadRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    tally.add(rows.slice(from, from + AT_ONCE));
    await immediate();
  }
}
