import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import type { Db } from '@/lib/database/engine';
import { livePlaces, type Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import { eventColumns, placeSql, toEvent, type EventRow } from '@/lib/outbox/row';
import { idFits } from '@/lib/outbox/row-id';
import { decodeVersion } from '@/lib/outbox/version';
import { INTERVENTION_EVENTS_MAX, type InterventionPreview, type VersionedEvent } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { Wanted } from './apply';
import { classify } from './classify';
import { stepsOf, type Operation, type Step } from './operation';
import { OPERATIONS } from './operation-registry.gen';
import { callStatement, deleteStatement, insertStatement, lockStatement, updateStatement, type Seen } from './statements';

/**
 * What an operation would do to these events now, and the very statements it would run. Changes and locks nothing:
 * the guard decides again when it is carried out. Throws Problem `invalid` for an unknown operation.
 */
export async function previewIntervention(
  outbox: Outbox,
  request: { operation: string; events: { id: string; version: string }[] },
): Promise<InterventionPreview> {
  const operation = operationOf(request.operation);
  if (request.events.length === 0 || request.events.length > INTERVENTION_EVENTS_MAX)
    throw new Problem('invalid', `Name 1 to ${INTERVENTION_EVENTS_MAX} events`);
  const steps = stepsOf(outbox, operation);
  const wanted: Wanted[] = request.events.map(({ id, version }) => {
    const seen = idFits(outbox.database.engine, outbox.main, id) ? decodeVersion(version) : null;
    return seen === null ? { id, version: null } : { id, version: seen };
  });
  const fitting = wanted.filter((entry): entry is Seen => entry.version !== null);
  return outbox.database.read(async (db) => {
    // Also those without a version: an undo knows ids only and takes the versions from here.
    const ids = wanted.map(({ id }) => id).filter((id) => idFits(outbox.database.engine, outbox.main, id));
    const events = await readEvents(outbox, db, ids);
    // Without locks, a row that passes every test classifies as `locked` only in name: it would be changed.
    const classified = new Map((await classify(outbox, db, operation, steps, wanted)).map((entry) => [entry.record.event_id, entry]));
    const rows = wanted.map(({ id }) => {
      const entry = classified.get(id);
      const allowed = entry?.lockedOnly === true;
      return {
        event: events.get(id) ?? missingEvent(id),
        allowed,
        code: allowed ? null : (entry?.record.code ?? 'not_found'),
        because: allowed ? null : (entry?.record.detail?.because ?? null),
      };
    });
    const allowedIds = new Set(rows.filter((row) => row.allowed).map((row) => row.event.id));
    const used = steps.filter((step) => fitting.some(({ id, version }) => allowedIds.has(id) && version.place === step.source.key));
    const relevant = await stepsThatMatch(outbox, db, used, allowedIds);
    return {
      outbox: outbox.id,
      operation: operation.key,
      rows,
      allowed: allowedIds.size,
      warnings: [...new Set(relevant.flatMap((step) => step.warnings))],
      sql: relevant.flatMap((step) =>
        statementsOf(
          outbox,
          db,
          operation,
          step,
          fitting.filter(({ id }) => allowedIds.has(id)),
        ),
      ),
    };
  });
}

export function operationOf(key: string): Operation {
  const operation = OPERATIONS.find((candidate) => candidate.key === key);
  if (operation === undefined)
    throw new Problem(
      'invalid',
      `There is no operation ${JSON.stringify(key.slice(0, 40))}: use one of ${OPERATIONS.map((candidate) => candidate.key).join(', ')}`,
    );
  return operation;
}

async function readEvents(outbox: Outbox, db: Db, ids: string[]): Promise<Map<string, VersionedEvent>> {
  const found = new Map<string, VersionedEvent>();
  const places: Place[] = [...livePlaces(outbox), ...(outbox.archive === null ? [] : [outbox.archive])];
  for (const place of places) {
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length === 0) break;
    const at = placeSql(outbox, place);
    const { rows } = await sql<EventRow>`select ${eventColumns(outbox, at)} from ${at.from} where ${at.id.among(missing)}`.execute(db);
    for (const row of rows) found.set(row.id, toEvent(outbox, place.key, row));
  }
  return found;
}

/** Steps that at least one of the rows is for, so that no dialog warns of what will not happen. */
async function stepsThatMatch(outbox: Outbox, db: Db, steps: Step[], ids: Set<string>): Promise<Step[]> {
  const matching: Step[] = [];
  for (const step of steps) {
    const at = placeSql(outbox, step.source);
    if (ids.size === 0) continue;
    const { rows } = await sql<{ one: number }>`select 1 as one from ${at.from}
      where ${at.id.among([...ids])} and ${step.match(at)} limit 1`.execute(db);
    if (rows.length > 0) matching.push(step);
  }
  return matching;
}

function statementsOf(outbox: Outbox, db: Db, operation: Operation, step: Step, seen: Seen[]): InterventionPreview['sql'] {
  const author = { interventionId: '00000000-0000-0000-0000-000000000000', actorName: 'you', reason: 'your reason' };
  const mine = seen.filter(({ version }) => version.place === step.source.key);
  const statements: RawBuilder<unknown>[] = [lockStatement(outbox, step, mine, 'skip locked')];
  if (step.call !== null) {
    const ids = mine.map(({ id }) => id);
    statements.push(callStatement(outbox, step.call, step.source, ids));
  } else if (step.target === null) statements.push(updateStatement(outbox, step, mine));
  else statements.push(insertStatement(outbox, { ...step, target: step.target }, mine, author), deleteStatement(outbox, step, mine));
  if (step.notify !== null && outbox.database.engine.features.notify)
    statements.push(sql`select pg_notify(${step.notify.channel}, ${`each id (${operation.key})`})`);
  return statements.map((statement) => shown(statement.compile(db)));
}

function shown(query: CompiledQuery): InterventionPreview['sql'][number] {
  return {
    text: query.sql.replace(/\s*\n\s*/g, '\n'),
    parameters: query.parameters.map((value) => (value === null ? 'NULL' : String(value))),
  };
}

function missingEvent(id: string): VersionedEvent {
  return {
    id,
    state: 'unmapped',
    stateLabel: null,
    type: null,
    aggregateType: null,
    aggregateId: null,
    createdAt: null,
    publishedAt: null,
    lastAttemptAt: null,
    attempts: null,
    maxAttempts: null,
    error: null,
    dedupKey: null,
    traceId: null,
    amount: null,
    currency: null,
    tooLarge: false,
    version: '',
  };
}
