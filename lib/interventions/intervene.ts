import { createHash } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { Db } from '@/lib/database/engine';
import { DatabaseFailure } from '@/lib/database/failure';
import { databaseProblem, type OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import { readOnlyProblem, requireSameTables, requireWritable } from '@/lib/outbox/read-only';
import { idFits } from '@/lib/outbox/row-id';
import { decodeVersion } from '@/lib/outbox/version';
import { INTERVENTION_EVENTS_MAX, REASON_MAX, REASON_MIN, type InterventionRequest, type InterventionResult } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { applyOperation, type Wanted } from './apply';
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
import { settle, type UnsettledLog } from './settle';

/** What an intervention needs beside the outbox itself. */
export interface InterventionDeps {
  directory: OutboxDirectory;
  /** Throws Problem `unavailable` when the store cannot take an audit entry: then nothing is changed. */
  requireStore(): Promise<void>;
  unsettled: UnsettledLog;
  /** Called after a record was committed, so that the audit need not wait for the next tick. */
  onRecord(outboxId: string): void;
}

const DEADLOCK_TRIES = 3;
/** How much text a key may have: a UUID and more. */
const KEY_MAX = 200;

/** Calls with one key that arrive while the first is running join it: one change, and as many equal answers. */
const running = new Map<string, { hash: string; result: Promise<InterventionResult> }>();

/**
 * The one path of every change: read-only check, record header, guarded change, one record per event, commit: all in
 * one transaction of the observed database. Same actor, key and body give the same answer for ever.
 * Throws Problem: `invalid`, `not_found`, `read_only`, `in_progress` (same key still running), `key_reused` (same key,
 * other body), `unavailable` (nothing was changed), `timeout` (nothing was changed).
 */
export async function intervene(
  deps: InterventionDeps,
  actor: Actor,
  outboxId: string,
  request: InterventionRequest,
  key: string,
): Promise<InterventionResult> {
  const operation = checkRequest(request, key);
  await deps.requireStore();
  const outbox = await deps.directory.get(outboxId);
  const hash = requestHash(outboxId, request);
  const scope = JSON.stringify([outboxId, actor.id, key]);
  const joined = running.get(scope);
  if (joined !== undefined) {
    if (joined.hash !== hash) throw keyReused();
    return joined.result;
  }
  const result = carryOut(deps, actor, outbox, operation, request, key, hash).finally(() => running.delete(scope));
  running.set(scope, { hash, result });
  return result;
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

async function carryOut(
  deps: InterventionDeps,
  actor: Actor,
  outbox: Outbox,
  operation: Operation,
  request: InterventionRequest,
  key: string,
  hash: string,
): Promise<InterventionResult> {
  const { write } = outbox.database;
  requireWritable(outbox, await deps.directory.proof(outbox.id));
  if (write === null) throw readOnlyProblem(outbox.id, 'no_operator_url');
  const wanted = request.events.map(({ id, version }) => toWanted(outbox, id, version));
  for (let attempt = 1; ; attempt += 1) {
    // A new id per attempt: an aborted one was never there.
    const id = uuidv7();
    let commitSent = false;
    try {
      const answer = await write(async (db) => {
        const result = await inTransaction(outbox, db, operation, wanted, { id, actor, key, hash, request });
        commitSent = true;
        return result;
      });
      deps.onRecord(outbox.id);
      return answer;
    } catch (error) {
      // Whoever tries again does so on the table as it is now.
      if (error instanceof Problem && error.code === 'read_only') deps.directory.forget(outbox.id);
      if (!(error instanceof DatabaseFailure)) throw error;
      if (error.code === 'connection' && commitSent) {
        return settle(deps, outbox, { id, outbox: outbox.id, actor, key, request, at: new Date().toISOString() }, operation.undo);
      }
      if (error.code === 'deadlock' && attempt < DEADLOCK_TRIES) continue;
      throw refusalOf(error, outbox);
    }
  }
}

function toWanted(outbox: Outbox, id: string, version: string): Wanted {
  const seen = idFits(outbox.database.engine, outbox.main, id) ? decodeVersion(version) : null;
  return seen === null ? { id, version: null } : { id, version: seen };
}

interface Job {
  id: string;
  actor: Actor;
  key: string;
  hash: string;
  request: InterventionRequest;
}

async function inTransaction(outbox: Outbox, db: Db, operation: Operation, wanted: Wanted[], job: Job): Promise<InterventionResult> {
  if (await outbox.database.engine.isReadOnly(db)) {
    throw new Problem(
      'read_only',
      `Database ${outbox.database.id} accepts no writes at the moment (it may have become a replica): nothing was changed`,
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
  await insertEvents(outbox.database.engine, db, job.id, records);
  const outcome = outcomeOf(records);
  await closeHeader(outbox.database.engine, db, job.id, outcome);
  const header = await headerByKey(outbox.database.engine, db, outbox.id, job.actor.id, job.key);
  if (header === null) throw new Error(`the record of intervention ${job.id} is not there in its own transaction`);
  return resultOf(header, records, operation.undo);
}

async function claimKey(outbox: Outbox, db: Db, job: Job): Promise<{ claimed: true } | { claimed: false; header: RecordHeader }> {
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

/** Failures before the commit was sent: the transaction is gone and nothing of it remains. */
function refusalOf(failure: DatabaseFailure, outbox: Outbox): Problem {
  if (failure.code === 'no_privilege') {
    return new Problem(
      'read_only',
      `The operator's role lacks a privilege on outbox ${outbox.id}: run the install command and apply its grants. Nothing was changed`,
      { cause: failure },
    );
  }
  const { code, detail } = databaseProblem(failure, outbox.database.id);
  return new Problem(code, `${detail}. Nothing was changed`, { cause: failure });
}
