import { createHash } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { Db } from '@/lib/database/engine';
import { DatabaseFailure, type FailureCode } from '@/lib/database/failure';
import { databaseProblem } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import { readOnlyProblem, requireSameTables, requireWritable } from '@/lib/outbox/read-only';
import { idFits } from '@/lib/outbox/row-id';
import { decodeVersion } from '@/lib/outbox/version';
import { INTERVENTION_MS } from '@/lib/shared/changes/intervention-time';
import { INTERVENTION_EVENTS_MAX, REASON_MAX, REASON_MIN, type InterventionRequest, type InterventionResult } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { stopwatch } from '@/lib/shared/async/stopwatch';
import { applyOperation, type Wanted } from './apply';
import type { ActorsKey } from './key-state';
import type { Operation } from './operation';
import { OPERATIONS } from './operation-registry.gen';
import {
  closeHeader,
  eventsOf,
  headerByKey,
  insertEvents,
  insertHeader,
  outcomeOf,
  resultOf,
  type RecordEvent,
  type RecordHeader,
} from './records';
import { resultFrom, settle, settleEntry, type SettleDeps } from './settle';

/** What an intervention needs beside the outbox itself. */
export interface InterventionDeps extends SettleDeps {
  /** Throws Problem `unavailable` when the store cannot take an audit entry: then nothing is changed. */
  requireStore(): Promise<void>;
}

const DEADLOCK_TRIES = 3;
/** How much text a key may have: a UUID and more. */
const KEY_MAX = 200;

/** On globalThis: Next bundles this module several times for one process. */
const KEY = Symbol.for('outbox-console.interventions');
const holder = globalThis as { [KEY]?: Map<string, { hash: string; result: Promise<InterventionResult> }> };
/** Calls with one key that arrive while the first is running join it: one change, and as many equal answers. */
const running = (holder[KEY] ??= new Map());

/**
 * The one path of every change: read-only check, record header, guarded change, one record per event, commit: all in
 * one transaction of the observed database. Same actor, key and body give the same answer for ever.
 * Where the commit may have been sent and nothing can be found out, the answer is outcome `unknown`.
 * `elapsedMs` tells how long ago a console got it, in milliseconds: what is not about to commit by INTERVENTION_MS is refused as
 * `timeout`.
 * Throws Problem: `invalid`, `not_found`, `read_only`, `in_progress` (same key still running), `key_reused` (same key,
 * other body), `unavailable`, `timeout`: this try changed nothing; what an earlier one with the key did is not said.
 */
export async function intervene(
  deps: InterventionDeps,
  actor: Actor,
  outboxId: string,
  request: InterventionRequest,
  key: string,
  elapsedMs: () => number = stopwatch(),
): Promise<InterventionResult> {
  const operation = checkRequest(request, key);
  const hash = requestHash(outboxId, request);
  const scope = scopeOf({ outbox: outboxId, actor, key });
  const joined = running.get(scope);
  if (joined !== undefined) {
    if (joined.hash !== hash) throw keyReused();
    return joined.result;
  }
  const result = once(deps, operation, { outbox: outboxId, actor, key, hash, request, elapsedMs }).finally(() => running.delete(scope));
  running.set(scope, { hash, result });
  return result;
}

const scopeOf = ({ outbox, actor, key }: ActorsKey): string => JSON.stringify([outbox, actor.id, key]);

/** Whether this process is at it: its transaction may not have begun yet, which no database could tell. */
export const isUnderWay = (key: ActorsKey): boolean => running.has(scopeOf(key));

/** What one call, and those that join it, do. */
interface Job {
  outbox: string;
  actor: Actor;
  key: string;
  hash: string;
  request: InterventionRequest;
  elapsedMs: () => number;
}

async function once(deps: InterventionDeps, operation: Operation, job: Job): Promise<InterventionResult> {
  const earlier = await earlierTry(deps, job);
  if (earlier !== null) return earlier;
  await deps.requireStore();
  return carryOut(deps, await deps.directory.get(job.outbox), operation, job);
}

/** The answer of a try with this key that nobody knew the outcome of, found out now or still unknown; null when there is none to wait for. */
async function earlierTry(deps: InterventionDeps, job: Job): Promise<InterventionResult | null> {
  const remembered = await deps.unsettled.ofKey(job);
  if (remembered === null || remembered.notApplied) return null;
  const { entry } = remembered;
  if (requestHash(entry.outbox, entry.request) !== job.hash) throw keyReused();
  const finding = await settleEntry(deps, entry);
  return finding.kind === 'not_applied' ? null : resultFrom(entry, finding);
}

/** Throws Problem `invalid` with every field that is wrong. */
function checkRequest(request: InterventionRequest, key: string): Operation {
  const fields: Record<string, string> = {};
  const operation = OPERATIONS.find((candidate) => candidate.key === request.operation);
  if (operation === undefined) fields.operation = `use one of ${OPERATIONS.map((candidate) => candidate.key).join(', ')}`;
  const reason = request.reason.trim();
  if (reason.length < REASON_MIN || reason.length > REASON_MAX)
    fields.reason = `write ${REASON_MIN} to ${REASON_MAX} characters: who reads the audit wants to know why`;
  if (request.reason.includes('\u0000') || !request.reason.isWellFormed()) fields.reason = 'holds a character that no database stores';
  if (key.length === 0 || key.length > KEY_MAX || /[^\x21-\x7e]/.test(key))
    fields['Idempotency-Key'] = `send 1 to ${KEY_MAX} visible ASCII characters, a new UUID for each decision`;
  const ids = request.events.map((event) => event.id);
  if (ids.length === 0 || ids.length > INTERVENTION_EVENTS_MAX) fields.events = `name 1 to ${INTERVENTION_EVENTS_MAX} events`;
  else if (new Set(ids).size !== ids.length) fields.events = 'name each event once';
  else if (ids.some((id) => id.includes('\u0000') || !id.isWellFormed() || id.length > 500))
    fields.events = 'an id holds characters that no id has';
  if (operation === undefined || Object.keys(fields).length > 0)
    throw new Problem('invalid', 'The intervention was not started: correct what is named', { fields });
  return operation;
}

function requestHash(outboxId: string, request: InterventionRequest): string {
  const events = [...request.events].map(({ id, version }) => [id, version]).sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([outboxId, request.operation, request.reason.trim(), events]))
    .digest('hex');
}

const keyReused = (): Problem =>
  new Problem('key_reused', 'This Idempotency-Key was used for another intervention: send a new key for a new decision');

async function carryOut(deps: InterventionDeps, bound: Outbox, operation: Operation, job: Job): Promise<InterventionResult> {
  const { write } = bound.database;
  const refused = requireWritable(bound, await deps.directory.proof(bound.id));
  const outbox = { ...bound, proof: { ...bound.proof, refused: [...bound.proof.refused, ...refused] } };
  if (write === null) throw readOnlyProblem(outbox.id, 'no_operator_url');
  const wanted = job.request.events.map(({ id, version }) => toWanted(outbox, id, version));
  for (let attempt = 1; ; attempt += 1) {
    // A new id per attempt: an aborted one was never there.
    const id = uuidv7();
    // The id of the record once its commit may have been sent.
    const committing: string[] = [];
    try {
      const answer = await write(async (db) => {
        const result = await inTransaction(outbox, db, operation, wanted, { id, ...job });
        committing.push(result.interventionId);
        return result;
      });
      deps.onRecord(outbox.id);
      return answer;
    } catch (error) {
      // Whoever tries again does so on the table as it is now.
      if (error instanceof Problem && error.code === 'read_only') deps.directory.forget(outbox.id);
      const [sent] = committing;
      if (sent !== undefined && !isRefusedCommit(error)) {
        const { actor, key, request } = job;
        const entry = { id: sent, outbox: outbox.id, actor, key, request, at: new Date().toISOString() };
        const answer = await settle(deps, outbox, entry);
        if (answer !== null) return answer;
      }
      if (!(error instanceof DatabaseFailure)) throw error;
      if (error.code === 'deadlock' && attempt < DEADLOCK_TRIES) continue;
      throw refusalOf(error, outbox);
    }
  }
}

/** Answers of a server to a commit after which the transaction is gone for certain. After any other failure it is looked for. */
const REFUSED_COMMIT = new Set<FailureCode>([
  'locked',
  'deadlock',
  'duplicate',
  'constraint',
  'bad_value',
  'no_privilege',
  'missing',
  'read_only',
]);
const isRefusedCommit = (error: unknown): boolean => error instanceof DatabaseFailure && REFUSED_COMMIT.has(error.code);

function toWanted(outbox: Outbox, id: string, version: string): Wanted {
  const seen = idFits(outbox.database.engine, outbox.main, id) ? decodeVersion(version) : null;
  return seen === null ? { id, version: null } : { id, version: seen };
}

type Try = Job & { id: string };

async function inTransaction(outbox: Outbox, db: Db, operation: Operation, wanted: Wanted[], job: Try): Promise<InterventionResult> {
  requireInTime(job);
  if (await outbox.database.engine.isReadOnly(db)) {
    throw new Problem(
      'read_only',
      `Database ${outbox.database.id} accepts no writes at the moment (it may have become a replica): this try changed nothing`,
    );
  }
  const reason = job.request.reason.trim();
  const ours = await claimKey(outbox, db, job);
  if (!ours.claimed) {
    if (ours.header.request_hash !== job.hash) throw keyReused();
    const events = (await eventsOf(outbox.database.engine, db, [ours.header.id])).get(ours.header.id) ?? [];
    return resultOf(ours.header, events, operation.undo);
  }
  const records: RecordEvent[] = await applyOperation(outbox, db, operation, wanted, {
    interventionId: job.id,
    actorName: job.actor.name,
    reason,
  });
  await requireSameTables(outbox, db);
  await insertEvents(outbox.database.engine, db, { id: job.id, outbox: outbox.id }, records);
  const outcome = outcomeOf(records);
  await closeHeader(outbox.database.engine, db, job.id, outcome);
  const header = await headerByKey(outbox.database.engine, db, outbox.id, job.actor.id, job.key);
  if (header === null) throw new Error(`the record of intervention ${job.id} is not there in its own transaction`);
  // Whoever found the key free after the time was up did so before it was claimed here; from then on they find it taken.
  requireInTime(job);
  return resultOf(header, records, operation.undo);
}

function requireInTime({ elapsedMs }: Job): void {
  if (elapsedMs() < INTERVENTION_MS) return;
  throw new Problem(
    'timeout',
    `It could not be carried out within ${INTERVENTION_MS / 1_000} seconds, so this try changed nothing: send it again`,
  );
}

async function claimKey(outbox: Outbox, db: Db, job: Try): Promise<{ claimed: true } | { claimed: false; header: RecordHeader }> {
  const request = { ...job.request, reason: job.request.reason.trim() };
  try {
    const claimed = await insertHeader(outbox.database.engine, db, {
      id: job.id,
      outbox: outbox.id,
      actor: job.actor,
      key: job.key,
      requestHash: job.hash,
      request,
    });
    if (claimed) return { claimed };
  } catch (error) {
    if (outbox.database.engine.failure(error).code !== 'locked') throw error;
    throw new Problem('in_progress', 'An intervention with this key is still running: ask again in a moment', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  const header = await headerByKey(outbox.database.engine, db, outbox.id, job.actor.id, job.key);
  if (header === null)
    throw new Problem('in_progress', 'An intervention with this key has just ended: ask again', { retryAfterSeconds: 1 });
  return { claimed: false, header };
}

/** The transaction is gone and nothing of it remains; another one with the same key may have been committed before. */
function refusalOf(failure: DatabaseFailure, outbox: Outbox): Problem {
  if (failure.code === 'statement_binlog') return readOnlyProblem(outbox.id, 'statement_binlog');
  if (failure.code === 'no_privilege') {
    return new Problem(
      'read_only',
      `The operator's role lacks a privilege on outbox ${outbox.id}: run the install command and apply its grants. This try changed nothing`,
      { cause: failure },
    );
  }
  const { code, detail } = databaseProblem(failure, outbox.database.id);
  return new Problem(code, `${detail}. This try changed nothing`, { cause: failure });
}
