/** What is known of a seed when it is over: what the tables, the records, the store and the audit say. */
import { startCarrier } from '@/lib/audit/carrier';
import { listAudit } from '@/lib/audit/list';
import { recordTables } from '@/lib/outbox/companions';
import { eventFateOf, outcomeOf, type EventFate, type RunOutcome } from '@/lib/runs/run/job';
import type { PlannedEvent } from '@/lib/runs/plans/chunk';
import { makerOf, plannedEvents, verifyPlan } from '@/lib/runs/plans/plan';
import { progressOf } from '@/lib/runs/run/progress';
import type { AuditEntry } from '@/lib/shared/model';
import type { RunCounts, RunState } from '@/lib/shared/runs/runs';
import { findApproval } from '@/lib/store/approvals';
import { findPlan } from '@/lib/store/plans';
import { batchesOfRun, listRuns } from '@/lib/store/runs';
import { ENGINES } from '@/scripts/testing/outbox';
import type { FaultEvidence, Recorded } from '../faults/evidence';
import { isPublished, stateOf } from '../races/contenders';
import { quoted, readHistory } from '../races/history';
import type { Place } from './lane';
import type { Office } from './operators';

export interface SeenBatch {
  n: number;
  positions: number[];
  interventionId: string | null;
  /** null while it is not answered. */
  outcomes: RunOutcome[] | null;
  fates: EventFate[];
}

/** A run as the store has it. */
export interface SeenRun {
  id: string;
  state: RunState;
  ended: boolean;
  /** Whether its events are sent again. */
  followed: boolean;
  counts: RunCounts;
  events: PlannedEvent[];
  batches: SeenBatch[];
  plan: { hash: string; maker: string; whole: boolean };
  /** null where nobody was asked. */
  approval: { state: string; hash: string; by: string | null } | null;
}

export interface RunEvidence extends FaultEvidence {
  runs: SeenRun[];
}

export async function gather(place: Place, office: Office, inserted: string[]): Promise<RunEvidence> {
  const { store, keys } = office;
  const recorded = await readRecorded(place);
  const runs: SeenRun[] = [];
  for (const run of await listRuns(store.db, [place.direct.outbox], 10)) {
    const plan = await findPlan(store.db, run.planId);
    if (plan === null) throw new Error(`run ${run.id} has no plan`);
    const events: PlannedEvent[] = [];
    for await (const chunk of plannedEvents(store.db, plan)) events.push(...chunk);
    const approval = await findApproval(store.db, plan.id);
    runs.push({
      ...{ id: run.id, state: run.state, ended: run.endedAt !== null, followed: run.operation !== 'archive', events },
      counts: progressOf(run).counts,
      batches: (await batchesOfRun(store.db, run.id)).map(({ outcomes, fates, ...batch }) => ({
        ...batch,
        outcomes: outcomes === null ? null : [...outcomes].map(outcomeOf),
        fates: [...(fates ?? [])].map(eventFateOf),
      })),
      plan: { hash: plan.hash, maker: makerOf(plan).id, whole: await verifyPlan(store.db, plan) },
      approval: approval === null ? null : { state: approval.state, hash: approval.hash, by: approval.actorId },
    });
  }
  return {
    ...{ inserted, recorded, runs, keys, isPublished, stateOf, publishedIsGone: false, listed: [] },
    history: await readHistory(place.database),
    records: recorded.flatMap(({ id, lines }) =>
      lines.map((line) => ({ ...line, intervention_id: id, operation: '', warned: false, at: new Date() })),
    ),
    asked: recorded.flatMap(({ id, key }) =>
      askedBy(key, runs, keys).map(({ id: event, version }) => ({ intervention: id, event, version })),
    ),
    audit: await readAudit(place, office),
  };
}

/** What was asked for under a key, by a person or by a run. */
function askedBy(key: string, runs: readonly SeenRun[], keys: Office['keys']): { id: string; version: string }[] {
  const run = runs.find(({ id }) => key.startsWith(`run/${id}/`));
  if (run === undefined) return keys.find((sent) => sent.key === key)?.events ?? [];
  const n = Number(key.split('/')[2]);
  return (run.batches.find((batch) => batch.n === n)?.positions ?? []).flatMap((position) => run.events[position] ?? []);
}

async function readRecorded({ database }: Place): Promise<Recorded[]> {
  const { engine } = database;
  const { headers, events } = recordTables(ENGINES[engine]);
  const { identifier } = ENGINES[engine].quote;
  const found = await database.query<{ id: string; key: string; outcome: string }>(
    `SELECT id, ${identifier('key')}, outcome FROM ${quoted(engine, headers)}`,
  );
  const lines = await database.query<{ intervention_id: string; event_id: string; code: string | null }>(
    `SELECT intervention_id, event_id, code FROM ${quoted(engine, events)} ORDER BY intervention_id, ${identifier('position')}`,
  );
  return found.map((one) => ({
    ...one,
    lines: lines.flatMap(({ intervention_id: id, event_id, code }) => (id === one.id ? [{ event_id, code }] : [])),
  }));
}

/** The audit's lines of interventions, after whatever was still on its way has been carried there. */
async function readAudit({ direct }: Place, { store, directory }: Office): Promise<FaultEvidence['audit']> {
  const carrier = startCarrier({ directory, store, onError: () => undefined });
  await carrier.carryAll().finally(() => carrier.stop());
  const entries: AuditEntry[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await listAudit(store, { outbox: direct.outbox }, { limit: 200, ...(cursor !== undefined && { cursor }) });
    entries.push(...page.entries);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return entries.filter(({ eventId }) => eventId !== null && eventId !== '');
}
