import { uuidv7 } from 'uuidv7';
import type { Db } from '@/lib/database/description';
import { digestOf } from '@/lib/database/digest';
import { DatabaseFailure, type FailureCode } from '@/lib/database/failure';
import { databaseProblem } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import { readOnlyProblem, requireSameTables, requireWritable } from '@/lib/outbox/rights/read-only';
import { INTERVENTION_MS } from '@/lib/shared/changes/intervention-time';
import { REASON_MAX, REASON_MIN, type InterventionRequest, type InterventionResult } from '@/lib/shared/model';
import { perProcess } from '@/lib/shared/kept';
import type { Actor } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { BATCH_EVENTS_MAX } from '@/lib/shared/runs/runs';
import { stopwatch } from '@/lib/shared/async/stopwatch';
import { applyOperation } from './apply';
import { asked, type ActorsKey, type Operation } from './operation';
import { OPERATIONS } from './operations';
import { closeHeader, headerOf, insertEvents, insertHeader, outcomeOf, recordedResult, resultOf, type RecordHeader } from './records';
import { resultFrom, settle, settleEntry, type SettleDeps } from './settle';

export interface InterventionDeps extends SettleDeps {
  /** Notes in the store, for figures, that the outbox is acted on. Throws Problem `unavailable`, also where it takes no audit entry. */
  requireStore(outbox: string): Promise<void>;
}

const DEADLOCK_TRIES = 3;
/** Longest key, in characters: a UUID and more. */
const KEY_MAX = 200;

/** A call whose key is already running in this process joins it: one change, the same result for all. */
const running = perProcess('interventions', () => new Map<string, { hash: string; result: Promise<InterventionResult> }>());

/**
 * The only way to change events, in one transaction of the observed database. One actor, key and body always give the same result,
 * `unknown` if it may have been committed. `elapsedMs`: since a console got it. Throws Problem: this try changed nothing.
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
  const result = runOperation(deps, { outbox: outboxId, actor, key, hash, operation, request, elapsedMs });
  running.set(scope, { hash, result });
  try {
    return await result;
  } finally {
    running.delete(scope);
  }
}

const scopeOf = ({ outbox, actor, key }: ActorsKey): string => JSON.stringify([outbox, actor.id, key]);

/** Whether this process is running it: its transaction may not have begun, so no database would know. */
export const isUnderWay = (key: ActorsKey): boolean => running.has(scopeOf(key));

interface Job extends ActorsKey {
  hash: string;
  operation: Operation;
  request: InterventionRequest;
  elapsedMs: () => number;
}

interface Try extends Job {
  /** New for each try: the id of an aborted transaction was never stored. */
  id: string;
  /** The id of the record once its commit may have been sent. */
  sent: string | null;
}

/** Runs the transaction, again after a deadlock, and finds out what became of a commit that was not confirmed. */
async function runOperation(deps: InterventionDeps, job: Job): Promise<InterventionResult> {
  const earlier = await earlierTry(deps, job);
  if (earlier !== null) return earlier;
  await deps.requireStore(job.outbox);
  const outbox = await changeable(deps, job.outbox);
  const { write } = outbox.database;
  if (write === null) throw readOnlyProblem(outbox.id, 'no_operator_url');
  for (let attempt = 1; ; attempt += 1) {
    const one: Try = { ...job, id: uuidv7(), sent: null };
    try {
      const answer = await write((db) => inTransaction(outbox, db, one));
      deps.onRecord(outbox.id);
      return answer;
    } catch (error) {
      // The next try binds the table anew.
      if (error instanceof Problem && error.code === 'read_only') deps.directory.forget(outbox.id);
      if (one.sent !== null && !(error instanceof DatabaseFailure && REFUSED.includes(error.code))) {
        const { actor, key, request } = job;
        const entry = { id: one.sent, outbox: outbox.id, actor, key, request, at: new Date().toISOString() };
        const answer = await settle(deps, outbox, entry);
        if (answer !== null) return answer;
      }
      if (!(error instanceof DatabaseFailure)) throw error;
      if (error.code === 'deadlock' && attempt < DEADLOCK_TRIES) continue;
      throw refusalOf(error, outbox);
    }
  }
}

/** The outbox, with the operations that its newest proof refuses. Throws Problem `read_only` if it may not be changed. */
export async function changeable({ directory }: Pick<InterventionDeps, 'directory'>, id: string): Promise<Outbox> {
  const outbox = await directory.get(id);
  const refused = requireWritable(outbox, await directory.proof(id));
  return { ...outbox, refused: [...outbox.refused, ...refused] };
}

/** The result of an earlier try with this key whose outcome was unknown, now found or still unknown; null if there is none to wait for. */
async function earlierTry(deps: InterventionDeps, job: Job): Promise<InterventionResult | null> {
  const remembered = await deps.unsettled.ofKey(job);
  if (remembered === null || remembered.notApplied) return null;
  const { entry } = remembered;
  if (requestHash(entry.outbox, entry.request) !== job.hash) throw keyReused();
  const finding = await settleEntry(deps, entry);
  return finding.kind === 'not_applied' ? null : resultFrom(entry, finding);
}

/** Whether a record can hold it. */
export const isId = (id: string): boolean => id.length <= 500 && !id.includes('\u0000') && id.isWellFormed();

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
  // A run's batch; the doors take fewer.
  if (ids.length === 0 || ids.length > BATCH_EVENTS_MAX) fields.events = `name 1 to ${BATCH_EVENTS_MAX} events`;
  else if (new Set(ids).size !== ids.length) fields.events = 'name each event once';
  else if (!ids.every(isId)) fields.events = 'an id holds characters that no id has';
  if (operation === undefined || Object.keys(fields).length > 0)
    throw new Problem('invalid', 'The intervention was not started: correct what is named', { fields });
  return operation;
}

function requestHash(outboxId: string, request: InterventionRequest): string {
  const events = [...request.events].map(({ id, version }) => [id, version]).sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return digestOf([outboxId, request.operation, request.reason.trim(), events]);
}

const keyReused = (): Problem =>
  new Problem('key_reused', 'This Idempotency-Key was used for another intervention: send a new key for a new decision');

/** Errors of a commit after which the transaction is certainly gone. After any other error its record is searched for. */
const REFUSED: FailureCode[] = ['locked', 'deadlock', 'duplicate', 'constraint', 'bad_value', 'no_privilege', 'missing', 'read_only'];

/** Claims the key, changes the rows, writes the record; or returns the result of the earlier try that has the key. */
async function inTransaction(outbox: Outbox, db: Db, job: Try): Promise<InterventionResult> {
  const { operation, request } = job;
  const { engine } = outbox.database;
  requireInTime(job);
  if (await engine.isReadOnly(db)) {
    const detail = `Database ${outbox.database.id} accepts no writes at the moment (it may have become a replica): this try changed nothing`;
    throw new Problem('read_only', detail);
  }
  const before = await claimKey(outbox, db, job);
  if (before !== null) {
    if (before.request_hash !== job.hash) throw keyReused();
    job.sent = before.id;
    return recordedResult(engine, db, before);
  }
  const author = { interventionId: job.id, actorName: job.actor.name, reason: request.reason.trim() };
  const records = await applyOperation({ outbox, db, operation, author }, asked(outbox, request.events));
  await requireSameTables(outbox, db);
  await insertEvents(engine, db, { id: job.id, outbox: outbox.id }, records);
  const header = await closeHeader(engine, db, job.id, outcomeOf(records));
  if (header === null) throw new Error(`the record of intervention ${job.id} is not there in its own transaction`);
  // A caller that finds the key free after the deadline may conclude that nothing changed: a claim made later fails here.
  requireInTime(job);
  job.sent = header.id;
  return resultOf(header, records);
}

function requireInTime({ elapsedMs }: Job): void {
  if (elapsedMs() < INTERVENTION_MS) return;
  const seconds = INTERVENTION_MS / 1_000;
  throw new Problem('timeout', `It could not be carried out within ${seconds} seconds, so this try changed nothing: send it again`);
}

/** null if the key is ours now; otherwise the header of the intervention that has it. Throws Problem `in_progress`. */
async function claimKey(outbox: Outbox, db: Db, job: Try): Promise<RecordHeader | null> {
  const { engine } = outbox.database;
  const request = { ...job.request, reason: job.request.reason.trim() };
  try {
    if (await insertHeader(engine, db, { ...job, requestHash: job.hash, request })) return null;
  } catch (error) {
    if (engine.failure(error).code !== 'locked') throw error;
    const detail = 'An intervention with this key is still running: ask again in a moment';
    throw new Problem('in_progress', detail, { cause: error, retryAfterSeconds: 1 });
  }
  const header = await headerOf(engine, db, job);
  if (header !== null) return header;
  throw new Problem('in_progress', 'An intervention with this key has just ended: ask again', { retryAfterSeconds: 1 });
}

/** The transaction was rolled back; another one with the same key may have been committed before. */
function refusalOf(failure: DatabaseFailure, outbox: Outbox): Problem {
  if (failure.code === 'statement_binlog') return readOnlyProblem(outbox.id, 'statement_binlog');
  if (failure.code === 'no_privilege') {
    const lacks = `The operator's role lacks a privilege on outbox ${outbox.id}: run the install command and apply its grants`;
    return new Problem('read_only', `${lacks}. This try changed nothing`, { because: 'no_grant', cause: failure });
  }
  const { code, detail } = databaseProblem(failure, outbox.database.id);
  return new Problem(code, `${detail}. This try changed nothing`, { cause: failure });
}
