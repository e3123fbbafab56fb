import { UUID } from '@/lib/database/column-text';
import type { Database } from '@/lib/database/database';
import { DatabaseFailure } from '@/lib/database/failure';
import {
  newestRecords,
  RECENT_SECONDS,
  recordsWithin,
  wholeRecords,
  type IdRange,
  type Newest,
  type RecordSize,
} from '@/lib/interventions/records';
import { recordsSight } from '@/lib/outbox/companions';
import { LACKING_MAX, type LackReason } from '@/lib/shared/changes/carrying';
import { ComparedPages, type ComparedPage, Lack } from './compared-pages';
import { StoreTrouble, type RecordsKeeper } from './records-keeper';

/** Time between two looks while interventions are made. */
const ACTIVE_MS = 1_000;
const ACTIVE_FOR_MS = 60_000;
const RETRY_MS = 3_000;
const WALK_EVERY_MS = 300_000;
/** Below the time between looks at rest, so that each of those counts pages. */
const COUNT_EVERY_MS = 4_000;
export const LOOK_ROWS = 500;
const WALK_ROWS = 5_000;
const WALK_ROWS_LEAST = 50;
/** Whole records are carried in batches of at most this many lines, but at least one record. */
const LINES_AT_ONCE = 1_000;

class RecordsUnreadable extends Error {
  override readonly name = 'RecordsUnreadable';
}

export interface DatabaseCarrierOptions {
  database: Database;
  /** The outboxes configured in it: records of other outboxes are ignored. */
  outboxes: readonly string[];
  keeper: RecordsKeeper;
  restMs: number;
  /** Offset of the looks as a share of `restMs`, so that databases take turns. */
  phase: number;
  onError(error: unknown): void;
}

/** A comparison of a range's records, from its first id to its last. */
interface Walk {
  range: IdRange;
  after: string | null;
  lacked: Set<string>;
  pages: ComparedPage[];
}

const ALL: IdRange = { after: null, upTo: null };
const over = (range: IdRange): Walk => ({ range, after: range.after, lacked: new Set(), pages: [] });

/** Carries the records of one database. The store reports which it lacks; each look reads the newest, others are found by counting. */
export class DatabaseCarrier {
  readonly lack: Lack;
  /** Number of lines, by id, of the newest records that the audit has. */
  private known = new Map<string, number>();
  private present = false;
  private seen = new Set<string>();
  private readonly pages = new ComparedPages();
  private walk: Walk | null = over(ALL);
  /** Pages to compare next, because their number of records is not the expected one. */
  private doubted: IdRange[] = [];
  private countAt = -Infinity;
  private walkAt = 0;
  private walkRows = WALK_ROWS;
  private lookAt = 0;
  private lookedAt = -Infinity;
  private activeUntil = -Infinity;
  private upSince = 0;
  private asked = false;
  /** The store accepted no entries in this look. */
  private blocked = false;
  private readonly reported = new Set<string>();
  private running: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(private readonly options: DatabaseCarrierOptions) {
    this.lack = new Lack(options.database.id, options.outboxes);
  }

  async run(): Promise<void> {
    clearTimeout(this.timer);
    this.running ??= this.work().finally(() => {
      this.running = null;
      if (!this.stopped) this.timer = setTimeout(() => void this.run(), this.asked ? 0 : this.lookAt - performance.now()).unref();
    });
    return this.running;
  }

  kick(): void {
    this.asked = true;
    this.activeUntil = performance.now() + ACTIVE_FOR_MS;
    void this.run();
  }

  async carryAll(): Promise<void> {
    this.walk = over(ALL);
    this.asked = true;
    do await this.run();
    while (this.asked && !this.stopped);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async work(): Promise<void> {
    if (performance.now() >= this.walkAt) this.walk ??= over(ALL);
    try {
      while (!this.stopped) {
        if (this.asked || performance.now() >= this.lookAt) await this.look();
        else if (this.walk !== null) await this.walkOn(this.walk);
        else if (this.doubted.length > 0) this.walk = over(this.doubted.shift() ?? ALL);
        else return;
      }
    } catch (error) {
      this.failed(error);
    }
  }

  private async look(): Promise<void> {
    const began = performance.now();
    this.asked = false;
    const wasBlocked = this.blocked;
    this.blocked = false;
    this.present ||= await this.find();
    const records = this.present ? await this.newest() : [];
    const unknown = records.filter(({ id, lines }) => lines !== null && (this.known.get(id) ?? -1) < lines);
    const lacked = await this.bring(unknown);
    this.known = new Map(records.flatMap(({ id, lines }) => (lacked.has(id) || lines === null ? [] : [[id, lines]])));
    this.lack.found(records, lacked);
    this.lack.because(this.blocked ? 'store' : null);
    if (!this.blocked) this.reported.clear();
    const { since } = this.options.database.status();
    const missedSome = unknown.length >= LOOK_ROWS || began - this.lookedAt > (RECENT_SECONDS / 2) * 1_000;
    if (missedSome || since !== this.upSince || (wasBlocked && !this.blocked)) this.walk = over(ALL);
    this.upSince = since;
    this.lookedAt = began;
    const now = performance.now();
    this.lookAt = now < this.activeUntil ? now + ACTIVE_MS : this.nextTurn(now);
  }

  /** Regular looks are `restMs` apart, whatever extra looks came between. */
  private nextTurn(now: number): number {
    const { restMs, phase } = this.options;
    return (Math.floor(now / restMs - phase) + 1 + phase) * restMs;
  }

  /** The newest records; counts some pages too, as an unexpected count shows that other records came. */
  private async newest(): Promise<RecordSize[]> {
    const due = performance.now() < this.countAt ? [] : this.pages.due();
    const { records, counts } = await this.readNewest(due);
    this.pages.came(records.flatMap(({ id }) => (this.seen.has(id) ? [] : [id])));
    this.seen = new Set(records.map(({ id }) => id));
    if (counts.length === 0) return records;
    this.countAt = performance.now() + COUNT_EVERY_MS;
    this.doubted = due.filter(({ rows }, place) => counts[place] !== rows);
    return records;
  }

  private async readNewest(due: readonly IdRange[]): Promise<Newest> {
    const { database, outboxes } = this.options;
    try {
      return await database.read((db) => newestRecords(database.engine, db, outboxes, LOOK_ROWS, due), { alone: true });
    } catch (error) {
      if (due.length === 0 || !isTimeout(error)) throw error;
      this.pages.tooMany();
      return this.readNewest([]);
    }
  }

  /** Whether there are readable records. Throws RecordsUnreadable if there must be some but they cannot be read. */
  private async find(): Promise<boolean> {
    const { database, outboxes, keeper } = this.options;
    const sight = await database.read((db) => recordsSight(database.engine, db));
    if (sight === 'countable' || sight === 'unindexed') return true;
    if ((sight === 'unreadable' && database.write !== null) || (await keeper.hasAny(outboxes)))
      throw new RecordsUnreadable(`the records of database ${database.id} cannot be read: run the install command and apply its grants`);
    return false;
  }

  private async walkOn(walk: Walk): Promise<void> {
    const { database, outboxes } = this.options;
    const { range, after } = walk;
    const limit = this.walkRows;
    let page: RecordSize[];
    try {
      const rest = { after, upTo: range.upTo };
      page = this.present ? await database.read((db) => recordsWithin(database.engine, db, outboxes, rest, limit), { alone: true }) : [];
    } catch (error) {
      if (!isTimeout(error) || limit <= WALK_ROWS_LEAST) throw error;
      this.walkRows = Math.max(WALK_ROWS_LEAST, Math.floor(limit / 4));
      return;
    }
    const lacked = await this.bring(page.filter(({ lines }) => lines !== null));
    this.lack.found(page, lacked);
    for (const id of lacked) if (walk.lacked.size < LACKING_MAX) walk.lacked.add(id);
    const isLast = page.length < limit;
    walk.after = page.at(-1)?.id ?? after;
    walk.pages.push({ after, upTo: isLast ? range.upTo : walk.after, rows: page.length });
    // A comparison that was started meanwhile covers all records again.
    if (!isLast || this.walk !== walk || this.stopped) return;
    this.walk = null;
    this.pages.compared(range, walk.pages);
    if (range === ALL) {
      this.doubted = [];
      this.walkAt = performance.now() + WALK_EVERY_MS;
      this.lack.walked(walk.lacked);
    }
    if (this.blocked) this.lack.because('store');
  }

  /** Carries the records that the store lacks; returns the ids that could not be carried. */
  private async bring(records: readonly RecordSize[]): Promise<Set<string>> {
    // Only ids the console made (UUIDs) fit into the store.
    const lacked = new Set(records.filter(({ id }) => !UUID.test(id)).map(({ id }) => id));
    const sound = records.flatMap(({ id, lines }) => (lacked.has(id) ? [] : [{ id, lines: lines ?? 0 }]));
    if (sound.length === 0) return lacked;
    const wanted = await this.options.keeper.lacked(sound);
    const batches: { ids: string[]; lines: number }[] = [];
    for (const { id, lines } of sound) {
      if (!wanted.has(id)) continue;
      const last = batches.at(-1);
      if (last === undefined || last.lines + lines > LINES_AT_ONCE) batches.push({ ids: [id], lines });
      else {
        last.ids.push(id);
        last.lines += lines;
      }
    }
    for (const { ids } of batches) for (const id of await this.carry(ids)) lacked.add(id);
    return lacked;
  }

  /** Carries whole records, one by one if the batch fails because of a record. Returns the ids that could not be carried. */
  private async carry(ids: string[]): Promise<string[]> {
    if (this.blocked || this.stopped) return ids;
    const { database, keeper } = this.options;
    try {
      await keeper.keep(await database.read((db) => wholeRecords(database.engine, db, ids)));
      this.activeUntil = performance.now() + ACTIVE_FOR_MS;
      return [];
    } catch (error) {
      if (error instanceof DatabaseFailure && !OF_A_RECORD.has(error.code)) throw error;
      this.blocked = error instanceof StoreTrouble;
      if (this.blocked || ids.length === 1) {
        this.report(error);
        return ids;
      }
      const left: string[] = [];
      for (const id of ids) left.push(...(await this.carry([id])));
      return left;
    }
  }

  private failed(error: unknown): void {
    this.asked = false;
    // Everything may have changed when the database answers again.
    this.present = false;
    this.walk = null;
    this.walkAt = 0;
    this.lookAt = performance.now() + RETRY_MS;
    this.lack.because(reasonOf(error));
    this.report(error);
  }

  /** Reports an error once until a look succeeds; never that the database is unreachable, as its records are carried later. */
  private report(error: unknown): void {
    if (error instanceof DatabaseFailure && (error.code === 'connection' || error.code === 'busy')) return;
    const told = String(error);
    if (this.reported.has(told)) return;
    this.reported.add(told);
    this.options.onError(error);
  }
}

const isTimeout = (error: unknown): boolean => error instanceof DatabaseFailure && error.code === 'timeout';

const OF_A_RECORD = new Set<DatabaseFailure['code']>(['bad_value', 'timeout', 'other']);

const UNREACHABLE = new Set<DatabaseFailure['code']>(['connection', 'busy', 'timeout', 'locked', 'deadlock']);

const reasonOf = (error: unknown): LackReason =>
  error instanceof StoreTrouble ? 'store' : error instanceof DatabaseFailure && UNREACHABLE.has(error.code) ? 'database' : 'unreadable';
