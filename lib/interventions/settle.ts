import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { within } from '@/lib/shared/async/within';
import { keyState, type ActorsKey } from './key-state';
import { OPERATIONS } from './operation-registry.gen';
import { resultOf, type RecordEvent, type RecordHeader } from './records';

/** A try whose commit was sent and never confirmed. */
export interface Unsettled extends ActorsKey {
  /** That of its record, if there is one. */
  id: string;
  request: InterventionRequest;
  /** ISO 8601 UTC, the console's clock. */
  at: string;
}

/** One that is remembered: still to be settled, or known never to have been committed. */
export interface Remembered {
  entry: Unsettled;
  notApplied: boolean;
}

/** Where unsettled tries are kept until the database answers: the store, and the process while the store does not take them. */
export interface UnsettledLog {
  /** Never rejects: what the store does not take now is kept until it does. */
  add(entry: Unsettled): Promise<void>;
  /** By its id; rejects when it is not known here and the store cannot be asked. */
  get(id: string): Promise<Remembered | null>;
  /** The latest of a key, one that is still to be settled before any other; rejects like `get`. */
  ofKey(key: ActorsKey): Promise<Remembered | null>;
  /** Those to be settled of these outboxes, oldest first. */
  list(outboxes: readonly string[]): Promise<Unsettled[]>;
  /**
   * One that was applied is forgotten: its record says all. One that was not is told to the audit, as there is no record that
   * could be carried there. Never rejects, like `add`.
   */
  settled(entry: Unsettled, outcome: 'applied' | 'not_applied'): Promise<void>;
}

export interface SettleDeps {
  directory: OutboxDirectory;
  unsettled: UnsettledLog;
  onRecord(outboxId: string): void;
}

const TRIES = 3;
const PAUSE_MS = 400;
/** Whoever waits for the answer of an intervention is told `unknown` rather than kept for longer. */
const ANSWER_WITHIN_MS = 5_000;

/** What a look told: the record is there, it never will be, or nobody can say yet: its transaction has not ended, or nobody answers. */
export type Finding =
  { kind: 'applied'; result: InterventionResult } | { kind: 'not_applied' } | { kind: 'unknown'; why: 'running' | 'away'; error?: unknown };

/**
 * Finds out what became of a commit that was sent and not confirmed, by looking, never by repeating. Answers the stored
 * result, outcome `unknown`, which is remembered, or null: it was not committed, for certain. Never rejects.
 */
export async function settle(deps: SettleDeps, outbox: Outbox, entry: Unsettled): Promise<InterventionResult | null> {
  const finding = await within(lookUntilKnown(outbox, entry), ANSWER_WITHIN_MS);
  if (finding?.kind === 'not_applied') return null;
  if (finding?.kind === 'applied') {
    deps.onRecord(outbox.id);
    return finding.result;
  }
  await deps.unsettled.add(entry);
  return unknownResult(entry);
}

async function lookUntilKnown(outbox: Outbox, entry: Unsettled): Promise<Finding> {
  for (let attempt = 1; ; attempt += 1) {
    const finding = await look(outbox, entry);
    if (finding.kind !== 'unknown' || attempt === TRIES) return finding;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * attempt));
  }
}

/**
 * One look. A key that is taken by a committed record means applied; one that could be claimed means that the old
 * transaction has ended without. Never rejects: what fails leaves it unknown, with the error for who looks for the last time.
 */
async function look(outbox: Outbox, entry: Unsettled): Promise<Finding> {
  try {
    const state = await keyState(outbox, entry);
    if (state.kind === 'recorded') return { kind: 'applied', result: recordedResult(state) };
    if (state.kind === 'free') return { kind: 'not_applied' };
    return { kind: 'unknown', why: state.kind === 'running' ? 'running' : 'away' };
  } catch (error) {
    return { kind: 'unknown', why: 'away', error };
  }
}

export function recordedResult({ header, events }: { header: RecordHeader; events: RecordEvent[] }): InterventionResult {
  return resultOf(header, events, OPERATIONS.find(({ key }) => key === header.operation)?.undo ?? null);
}

function unknownResult(entry: Unsettled): InterventionResult {
  return {
    interventionId: entry.id,
    outbox: entry.outbox,
    operation: entry.request.operation,
    reason: entry.request.reason,
    actor: entry.actor.name,
    at: null,
    outcome: 'unknown',
    changed: [],
    skipped: [],
    undo: null,
  };
}

/** The answer for a try that turned out never to have been committed: `none`, at no time. */
export const notAppliedResult = (entry: Unsettled): InterventionResult => ({ ...unknownResult(entry), outcome: 'none' });

export const resultFrom = (entry: Unsettled, finding: Finding): InterventionResult =>
  finding.kind === 'applied' ? finding.result : finding.kind === 'unknown' ? unknownResult(entry) : notAppliedResult(entry);

/**
 * Looks again after an unsettled try, and has it settled once the answer is certain. Throws Problem `not_found` when its
 * outbox is no longer configured.
 */
export async function settleEntry(deps: SettleDeps, entry: Unsettled): Promise<Finding> {
  const outbox = await deps.directory.get(entry.outbox).catch(unlessAway);
  const finding: Finding = outbox === null ? { kind: 'unknown', why: 'away' } : await look(outbox, entry);
  if (finding.kind === 'unknown') return finding;
  await deps.unsettled.settled(entry, finding.kind);
  if (finding.kind === 'applied') deps.onRecord(entry.outbox);
  return finding;
}

function unlessAway(error: unknown): null {
  if (error instanceof Problem && (error.code === 'unavailable' || error.code === 'timeout')) return null;
  throw error;
}
