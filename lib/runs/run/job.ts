/** A run in the memory of the process that carries it out: what became of each event, and which go next. Rebuilt from the store's rows. */
import type { InterventionResult, SkipCode } from '@/lib/shared/model';
import { NO_COUNTS, type RunCounts, type RunFate } from '@/lib/shared/runs/runs';
import { isFollowed } from '@/lib/shared/changes/fates';
import { PLAN_CHUNK, type LeftCode } from '@/lib/shared/runs/plans';
import { readChunk } from '@/lib/store/plans';
import { batchesOfRun, type StoredBatch, type StoredRun, findRun } from '@/lib/store/runs';
import type { StoreDb } from '@/lib/store/store';
import { Problem } from '@/lib/shared/problems';
import { unpackChunk, type PlannedEvent } from '../plans/chunk';
import { plannedEvents } from '../plans/plan';
import { progressOf } from './progress';

const OUTCOMES = [
  'remaining', 'changed', 'changed_since_seen', 'being_processed', 'already_published', 'wrong_state', 'locked', 'not_found',
  'not_supported', 'too_young', 'already_exists', 'did_not_take', 'blocked_by_order',
] as const satisfies readonly ('remaining' | 'changed' | 'blocked_by_order' | SkipCode)[]; // prettier-ignore
export type RunOutcome = (typeof OUTCOMES)[number];

const outcomeCode = (outcome: RunOutcome): number => OUTCOMES.indexOf(outcome);
export const outcomeOf = (code: number): RunOutcome => OUTCOMES[code] ?? 'remaining';

/** `retrying`: it failed again, and may still be published. */
const FATES = ['notLooked', 'published', 'gone', 'failedAgain', 'retrying', 'waiting', 'notKnown'] as const;
export type EventFate = (typeof FATES)[number];

const fateCode = (fate: EventFate): number => FATES.indexOf(fate);
export const eventFateOf = (code: number): EventFate => FATES[code] ?? 'notLooked';

/** May still become another one. */
export const isUnsure = (fate: EventFate): boolean => fate === 'notLooked' || fate === 'waiting' || fate === 'retrying';

export const runFateOf = (fate: EventFate): RunFate => (fate === 'notLooked' ? 'waiting' : fate === 'retrying' ? 'failedAgain' : fate);

/** Tries at an event whose row somebody else holds; then it is left. */
export const LOCKED_TRIES = 3;

const FAILED: readonly RunOutcome[] = ['did_not_take', 'not_supported', 'already_exists'];

/** The sum that an event is counted in. */
const countOf = (outcome: RunOutcome): Exclude<keyof RunCounts, 'requested' | 'fates' | 'unknown'> =>
  outcome === 'remaining' || outcome === 'changed' || outcome === 'locked' ? outcome : FAILED.includes(outcome) ? 'failed' : 'conflicted';

/** Chunks of the plan that stay unpacked. */
const CHUNKS_KEPT = 12;
const NONE = -1;
const LOCKED = outcomeCode('locked');
/** More than there are fates. */
const FATE_CODES = 16;

export interface JobBatch {
  n: number;
  positions: number[];
  interventionId: string | null;
}

/** What a batch is for: to be sent, or only to say why its events are left. */
export interface Choice {
  send: number[];
  blocked: number[];
  /** They were locked before. */
  again: boolean;
}

export type Job = Awaited<ReturnType<typeof loadJob>>;

/** `goneIsOut`: its relay deletes what is out. */
export async function loadJob(db: StoreDb, run: Pick<StoredRun, 'id' | 'planId' | 'operation' | 'count'>, goneIsOut: boolean) {
  const { count } = run;
  const followed = isFollowed(run.operation);
  const outcomes = new Uint8Array(count);
  const fates = new Uint8Array(count);
  const tries = new Uint8Array(count);
  /** Of each event the one before it of its aggregate. */
  const previous = new Int32Array(count).fill(NONE);
  const batches = new Map<number, JobBatch>();
  const chunks = new Map<number, PlannedEvent[]>();
  let declared: JobBatch | null = null;
  let [first, last] = [0, 0];

  if (followed) {
    const last = new Map<string, number>();
    let position = 0;
    for await (const events of plannedEvents(db, { id: run.planId, count })) {
      for (const { aggregate } of events) {
        if (aggregate !== null) {
          previous[position] = last.get(aggregate) ?? NONE;
          last.set(aggregate, position);
        }
        position += 1;
      }
    }
  }
  for (const stored of await batchesOfRun(db, run.id)) enter(stored);

  function enter({ outcomes: codes, fates: found, ...batch }: StoredBatch): void {
    batches.set(batch.n, batch);
    last = Math.max(last, batch.n);
    if (codes === null) {
      declared = batch;
      return;
    }
    batch.positions.forEach((position, at) => {
      note(position, outcomeOf(codes[at] ?? 0));
      fates[position] = found?.[at] ?? 0;
    });
  }

  function note(position: number, outcome: RunOutcome): void {
    outcomes[position] = outcomeCode(outcome);
    if (outcome === 'locked') tries[position] = (tries[position] ?? 0) + 1;
  }

  const outcome = (position: number): RunOutcome => outcomeOf(outcomes[position] ?? 0);
  const fate = (position: number): EventFate => eventFateOf(fates[position] ?? 0);
  const isLockedYet = (position: number): boolean => outcome(position) === 'locked' && (tries[position] ?? 0) < LOCKED_TRIES;
  const isOpen = (position: number): boolean => outcome(position) === 'remaining' || isLockedYet(position);

  /** Whether an event may follow this one of its aggregate. */
  function follows(position: number): 'yes' | 'no' | 'not_yet' {
    const code = outcome(position);
    if (isOpen(position)) return 'not_yet';
    if (code === 'already_published' || (code === 'not_found' && goneIsOut)) return 'yes';
    if (code !== 'changed') return 'no';
    const became = fate(position);
    if (became === 'published' || (became === 'gone' && goneIsOut)) return 'yes';
    return became === 'notLooked' || became === 'waiting' ? 'not_yet' : 'no';
  }

  /** The next events, at most `limit`; locked ones when no other can go. Events that nothing lets go any more are blocked. */
  function choose(limit: number): Choice {
    const chosen: Choice = { send: [], blocked: [], again: false };
    const locked: number[] = [];
    const blocked = new Set<number>();
    const underWay = new Set(declared?.positions);
    while (first < count && !isOpen(first)) first += 1;
    for (let position = first; position < count && chosen.send.length < limit; position += 1) {
      if (!isOpen(position) || underWay.has(position)) continue;
      const before = previous[position] ?? NONE;
      const may = before === NONE ? 'yes' : blocked.has(before) ? 'no' : follows(before);
      if (may === 'no') {
        blocked.add(position);
        chosen.blocked.push(position);
      } else if (may === 'yes') (isLockedYet(position) ? locked : chosen.send).push(position);
    }
    return chosen.send.length > 0 || locked.length === 0 ? chosen : { ...chosen, send: locked.slice(0, limit), again: true };
  }

  /** The events at these positions, in that order. */
  async function eventsAt(positions: readonly number[]): Promise<PlannedEvent[]> {
    const events: PlannedEvent[] = [];
    for (const position of positions) {
      const n = Math.floor(position / PLAN_CHUNK);
      let chunk = chunks.get(n);
      if (chunk === undefined) {
        const data = await readChunk(db, run.planId, n);
        if (data === null) throw new Error(`plan ${run.planId} has no chunk ${String(n)}`);
        chunk = unpackChunk(data);
        const [oldest] = chunks.keys();
        if (chunks.size >= CHUNKS_KEPT && oldest !== undefined) chunks.delete(oldest);
        chunks.set(n, chunk);
      }
      const event = chunk[position % PLAN_CHUNK];
      if (event === undefined) throw new Error(`plan ${run.planId} has no event ${String(position)}`);
      events.push(event);
    }
    return events;
  }

  /** The sums, made of every event each time. `doubt`: it is not known whether the declared batch was committed. */
  function counts(doubt: boolean): { counts: RunCounts; left: Record<string, number> } {
    // Numbers alone: of 250,000 events it is made with every batch.
    const tally = new Uint32Array(256 * FATE_CODES);
    let lockedYet = 0;
    for (let position = 0; position < count; position += 1) {
      const code = outcomes[position] ?? 0;
      if (code === LOCKED && (tries[position] ?? 0) < LOCKED_TRIES) lockedYet += 1;
      else {
        const at = code * FATE_CODES + (fates[position] ?? 0);
        tally[at] = (tally[at] ?? 0) + 1;
      }
    }
    const sums: RunCounts = { ...NO_COUNTS, fates: { ...NO_COUNTS.fates }, requested: count, remaining: lockedYet };
    const left: Record<string, number> = {};
    const leave = (code: string, events: number): void => void (left[code] = (left[code] ?? 0) + events);
    tally.forEach((events, at) => {
      if (events === 0) return;
      const code = outcomeOf(Math.floor(at / FATE_CODES));
      sums[countOf(code)] += events;
      if (code !== 'changed' && code !== 'remaining') leave(code, events);
      if (code !== 'changed' || !followed) return;
      const became = runFateOf(eventFateOf(at % FATE_CODES));
      sums.fates[became] += events;
      if (became === 'failedAgain') leave('failed_again', events);
      if (became === 'waiting') leave('waiting', events);
      if (became === 'notKnown') leave('not_known', events);
    });
    if (doubt && declared !== null) {
      sums.unknown = declared.positions.length;
      sums.remaining -= sums.unknown;
    }
    if (sums.remaining > 0) left.remaining = sums.remaining;
    return { counts: sums, left };
  }

  return {
    followed,
    goneIsOut,
    batches,
    outcome,
    isOpen,
    fate,
    choose,
    eventsAt,
    counts,
    /** The batch that was sent, or is about to be, without an answer; null if there is none. */
    declared: (): JobBatch | null => declared,
    nextNumber: (): number => last + 1,
    declare(n: number, positions: number[]): JobBatch {
      declared = { n, positions, interventionId: null };
      batches.set(n, declared);
      last = n;
      return declared;
    },
    /** The declared batch was not committed: its events remain. */
    withdraw(): void {
      if (declared !== null) declared.positions = [];
      declared = null;
    },
    /** Events that are left without being sent, as a batch that is answered already. */
    block(n: number, positions: number[]): Buffer {
      batches.set(n, { n, positions, interventionId: null });
      last = n;
      for (const position of positions) note(position, 'blocked_by_order');
      return Buffer.from(positions.map((position) => outcomes[position] ?? 0));
    },
    /** Takes the answer to the declared batch, whose events are these; returns its outcomes. */
    async answer(result: Pick<InterventionResult, 'interventionId' | 'changed' | 'skipped'>): Promise<Buffer> {
      const { interventionId, changed, skipped } = result;
      if (declared === null) throw new Error('no batch was declared');
      const { positions } = declared;
      const taken = new Set(changed);
      const codes = new Map(skipped.map(({ id, code }) => [id, code]));
      const events = await eventsAt(positions);
      positions.forEach((position, at) => {
        const id = events[at]?.id ?? '';
        const code = taken.has(id) ? 'changed' : codes.get(id);
        if (code === undefined) throw new Error(`the record ${interventionId} has no line of event ${id}`);
        note(position, code);
      });
      declared.interventionId = interventionId;
      declared = null;
      return Buffer.from(positions.map((position) => outcomes[position] ?? 0));
    },
    setFate(position: number, to: EventFate): boolean {
      const code = fateCode(to);
      if (fates[position] === code) return false;
      fates[position] = code;
      return true;
    },
    fatesOf: (n: number): Buffer => Buffer.from((batches.get(n)?.positions ?? []).map((position) => fates[position] ?? 0)),
    /** Changed events of batches from `n` on whose fate may still change, or that are to be looked at otherwise, by batch. */
    unsure(n: number, also: (position: number) => boolean = () => false): { batch: JobBatch; positions: number[] }[] {
      if (!followed) return [];
      return [...batches.values()].flatMap((batch) => {
        const positions =
          batch.n < n ? [] : batch.positions.filter((one) => outcome(one) === 'changed' && (isUnsure(fate(one)) || also(one)));
        return positions.length === 0 ? [] : [{ batch, positions }];
      });
    },
    /** Changed events of batches from `n` on. */
    changedSince: (n: number): number[] =>
      [...batches.values()].flatMap((batch) => (batch.n < n ? [] : batch.positions.filter((one) => outcome(one) === 'changed'))),
    hasOpen(): boolean {
      while (first < count && !isOpen(first)) first += 1;
      return first < count;
    },
  };
}

const AT_ONCE = 1_000;

/** Ids of the events that a run left for these reasons, in the plan's order. Throws Problem `not_found`. */
export async function leftoverIds(db: StoreDb, runId: string, codes: readonly LeftCode[]): Promise<string[]> {
  const run = await findRun(db, runId);
  if (run === null) throw new Problem('not_found', 'There is no such run');
  const job = await loadJob(db, run, progressOf(run).goneIsOut);
  const wanted = new Set<LeftCode | null>(codes);
  const positions: number[] = [];
  for (let position = 0; position < run.count; position += 1) if (wanted.has(whyLeft(job, position))) positions.push(position);
  const ids: string[] = [];
  for (let at = 0; at < positions.length; at += AT_ONCE) {
    for (const { id } of await job.eventsAt(positions.slice(at, at + AT_ONCE))) ids.push(id);
  }
  return ids;
}

/** Null of events that are out. */
function whyLeft(job: Job, position: number): LeftCode | null {
  if (job.isOpen(position)) return 'remaining';
  const outcome = job.outcome(position);
  if (outcome !== 'changed' || !job.followed) return outcome;
  const fate = runFateOf(job.fate(position));
  return fate === 'failedAgain' ? 'failed_again' : fate === 'waiting' ? 'waiting' : fate === 'notKnown' ? 'not_known' : null;
}
