import type { RawBuilder } from 'kysely';
import type { Db } from '@/lib/database/description';
import type { Outbox } from '@/lib/outbox/outbox';
import { eventColumns, toEvent, type EventRow } from '@/lib/outbox/rows/row';
import {
  INTERVENTION_EVENTS_MAX,
  type InterventionPreview,
  type InterventionRequest,
  type SeenEvent,
  type VersionedEvent,
} from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { reasonsFor, rowsById, rowsOfSteps, type ById } from './classify';
import { asked, stepsOf, type Operation, type Seen, type Step } from './operation';
import { OPERATIONS } from './operations';
import { callStatement, deleteStatement, insertStatement, lockStatement, prepareStep, relayStatement, updateStatement } from './statements';

/** What an operation would do now, and the statements it would run. Changes and locks nothing. Throws Problem `invalid`. */
export async function previewIntervention(outbox: Outbox, request: Omit<InterventionRequest, 'reason'>): Promise<InterventionPreview> {
  const operation = operationOf(request.operation);
  if (request.events.length === 0 || request.events.length > INTERVENTION_EVENTS_MAX)
    throw new Problem('invalid', `Name 1 to ${INTERVENTION_EVENTS_MAX} events`);
  const steps = stepsOf(outbox, operation);
  const wanted = asked(outbox, request.events);
  return outbox.database.read(async (db) => {
    const ids = wanted.map(({ id }) => id);
    const found = await rowsById<EventRow & ById>(outbox, db, ids, (at) => eventColumns(outbox, at));
    const events = new Map([...found].map(([id, row]) => [id, toEvent(outbox, row.place, row)]));
    const whereabouts = new Map([...found].map(([id, row]) => [id, { ...row, state: events.get(id)?.state ?? 'unmapped' }]));
    const ofSteps = await rowsOfSteps(outbox, db, steps, [...whereabouts.values()]);
    const rows = reasonsFor({ outbox, operation }, steps, wanted, whereabouts, ofSteps).map(({ record, lockedOnly: allowed }) => ({
      event: events.get(record.event_id) ?? missingEvent(record.event_id),
      allowed,
      code: allowed ? null : (record.code ?? 'not_found'),
      because: allowed ? null : (record.detail?.because ?? null),
    }));
    const allowed = new Set(rows.filter((row) => row.allowed).map(({ event }) => event.id));
    const seen = wanted.filter((row): row is Seen => row.version !== null && allowed.has(row.id));
    // Steps that apply to at least one of the rows: the dialog must not warn of what will not happen.
    const used = steps.filter((step) => seen.some(({ id }) => ofSteps.matches.get(step)?.has(id) === true));
    return {
      outbox: outbox.id,
      operation: operation.key,
      rows,
      allowed: allowed.size,
      warnings: warningsOf(outbox, operation, used, ofSteps.matches, rows),
      sql: used.flatMap((step) => statementsOf(outbox, db, step, seen)),
    };
  });
}

/** The statements that would change these events, whatever became of them since: one event of each place tells all. Reads no row. */
export function statementsFor(outbox: Outbox, key: string, events: readonly SeenEvent[]): Promise<InterventionPreview['sql']> {
  const operation = operationOf(key);
  const seen = asked(outbox, events).filter((row): row is Seen => row.version !== null);
  const steps = stepsOf(outbox, operation).filter(({ source }) => seen.some(({ version }) => version.place === source.key));
  return outbox.database.read((db) => Promise.resolve(steps.flatMap((step) => statementsOf(outbox, db, step, seen))));
}

/** Of the steps, and of the state of what is sent again as the event's page has them: each with how many of the events it is about. */
function warningsOf(
  { shape }: Outbox,
  { sendsAgain }: Operation,
  used: readonly Step[],
  matches: ReadonlyMap<Step, ReadonlySet<string>>,
  rows: InterventionPreview['rows'],
): InterventionPreview['warnings'] {
  const counts = new Map<string, number>();
  for (const { event, allowed } of rows) {
    if (!allowed) continue;
    const { state } = event;
    const ofState = sendsAgain && state !== 'archived' && state !== 'unmapped' ? (shape.cautions[state] ?? []) : [];
    const ofSteps = used.flatMap((step) => (matches.get(step)?.has(event.id) === true ? step.warnings : []));
    for (const code of new Set([...ofSteps, ...ofState])) counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return [...counts].map(([code, count]) => ({ code, count }));
}

export function operationOf(key: string): Operation {
  const operation = OPERATIONS.find((candidate) => candidate.key === key);
  if (operation !== undefined) return operation;
  const known = OPERATIONS.map((candidate) => candidate.key).join(', ');
  throw new Problem('invalid', `There is no operation ${JSON.stringify(key.slice(0, 40))}: use one of ${known}`);
}

function statementsOf(outbox: Outbox, db: Db, step: Step, seen: readonly Seen[]): InterventionPreview['sql'] {
  const author = { interventionId: '00000000-0000-0000-0000-000000000000', actorName: 'you', reason: 'your reason' };
  const mine = seen.filter(({ version }) => version.place === step.source.key);
  const ids = mine.map(({ id }) => id);
  const prepared = prepareStep(outbox, step);
  const statements: RawBuilder<unknown>[] = [lockStatement(prepared, mine, 'skip locked')];
  if (step.call !== null) statements.push(callStatement(prepared, step.call, mine));
  else if (step.target === null) statements.push(updateStatement(prepared, mine));
  else statements.push(insertStatement(prepared, mine, author), deleteStatement(prepared, mine));
  if (step.notify !== null && outbox.database.engine.features.notify) statements.push(relayStatement(step.notify.channel, ids));
  return statements.map((statement) => {
    const { sql: text, parameters } = statement.compile(db);
    return { text: text.replace(/\s*\n\s*/g, '\n'), parameters: parameters.map((value) => (value === null ? 'NULL' : String(value))) };
  });
}

function missingEvent(id: string): VersionedEvent {
  const unknown = { stateLabel: null, type: null, topic: null, aggregateType: null, aggregateId: null, dedupKey: null, traceId: null };
  const times = { createdAt: null, publishedAt: null, lastAttemptAt: null, diedAt: null };
  const rest = { attempts: null, maxAttempts: null, error: null, amount: null, currency: null, tooLarge: false };
  return { id, state: 'unmapped', ...unknown, ...times, ...rest, version: '' };
}
