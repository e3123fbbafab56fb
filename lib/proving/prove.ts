/** Proves a mapping: every operation on real events of every state, in the transaction of an intervention, which is rolled back. */
import { uuidv7 } from 'uuidv7';
import { applyOperation } from '@/lib/interventions/apply';
import { classify } from '@/lib/interventions/classify';
import type { Change, Seen } from '@/lib/interventions/operation';
import { operationOf, previewIntervention } from '@/lib/interventions/preview';
import type { RecordEvent } from '@/lib/interventions/records';
import { takenBack } from '@/lib/interventions/settle';
import { asMapped } from '@/lib/outbox/capabilities';
import { asProblem } from '@/lib/outbox/directory';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { listEvents } from '@/lib/outbox/lists/list-events';
import type { Outbox } from '@/lib/outbox/outbox';
import { fingerprintOf, proofFacts } from '@/lib/outbox/proof/proof-facts';
import { readOnlyAdvice, readOnlyProblem, requireSameTables } from '@/lib/outbox/rights/read-only';
import { decodeVersion, encodeVersion } from '@/lib/outbox/rows/version';
import type { OutboxEvent } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { ReadOnlyReason } from '@/lib/shared/changes/read-only';
import { outcomeOf, type ProofDocument, type ProofResult } from '@/lib/shared/changes/proofs';
import { notOffered, reachesOutside, trialsOf, triggersOf, warningsOf, type Trial } from './survey';

export const PROOF_EVENTS_MAX = 12;
/** At most this many of the newest events of a state are tried, until one gives a result. */
const NEWEST = 20;
const AT_ONCE = 5;
const AUTHOR = { interventionId: '00000000-0000-0000-0000-000000000000', actorName: 'a proof', reason: 'taken back' };

/** Reasons that prevent a proof, and not only changes. */
// prettier-ignore
const FIRST = [
  'no_operator_url', 'no_primary_key', 'not_transactional', 'statement_binlog', 'not_installed', 'reinstall_needed',
  'companions_out_of_date', 'no_grant',
] as const;

/** What has to be fixed before a proof is possible; null if nothing. */
export const whyNotProvable = (outbox: Pick<Outbox, 'whyReadOnly'>): ReadOnlyReason | null =>
  FIRST.find((why) => why === outbox.whyReadOnly) ?? null;

/** Whether the archive was made without columns that the database computes; other operations work without them. */
const lacksComputed = ({ archive, main }: Outbox): boolean =>
  archive !== null && [...main.description.columns.keys()].some((name) => !archive.description.columns.has(name));

/**
 * Runs the proof and rolls it back. Of states without a chosen event the newest are tried, unless a trigger may reach outside the
 * transaction. Throws Problem: `read_only` if something has to be fixed first, `timeout`, `unavailable`.
 */
export async function prove(bound: Outbox, options: { events: string[]; actor: string }): Promise<ProofDocument> {
  const outbox = asMapped(bound);
  const first = whyNotProvable(outbox) ?? (lacksComputed(outbox) ? 'companions_out_of_date' : null);
  if (first !== null)
    throw new Problem('read_only', `Outbox ${outbox.id} cannot be proven yet (${first}): ${readOnlyAdvice(outbox.id, first)}`, {
      because: first,
    });
  try {
    const chosen = (await Promise.all(options.events.map((id) => getEvent(outbox, id)))).flatMap((found) => found?.event ?? []);
    const results: ProofResult[] = [];
    for (const trial of trialsOf(outbox)) results.push(await tryOne(outbox, trial, chosen));
    const made = { id: uuidv7(), outbox: outbox.id, at: new Date().toISOString(), actor: options.actor };
    const found = { fingerprint: fingerprintOf(proofFacts(outbox)), outcome: outcomeOf(results), results };
    return { ...made, ...found, notOffered: notOffered(outbox), triggers: triggersOf(outbox), warnings: warningsOf(outbox) };
  } catch (error) {
    return asProblem(outbox)(error);
  }
}

/** The result of a trial; what it leaves out stays empty. */
type Finding = Partial<ProofResult> & Pick<ProofResult, 'verdict'>;

async function tryOne(outbox: Outbox, trial: Trial, chosen: OutboxEvent[]): Promise<ProofResult> {
  const { operation: key, state, table } = trial;
  const nothing = { because: null, detail: null, rows: [], stateAfter: null, changed: [], statements: [], notes: [] };
  const blank = { operation: key, state, table, ...nothing };
  const operation = operationOf(key);
  const { write } = outbox.database;
  if (write === null) throw readOnlyProblem(outbox.id, 'no_operator_url');
  const ofState = chosen.filter((event) => event.state === state);
  const mine = seenIn(trial, ofState);
  if (mine.length === 0 && reachesOutside(outbox)) return { ...blank, verdict: 'untried', because: 'only_chosen' };
  const events = mine.length > 0 ? mine : seenIn(trial, (await listEvents(outbox, { state: [state] }, { limit: NEWEST })).events);
  const [one] = events;
  if (one === undefined) return { ...blank, verdict: 'untried', because: 'no_row' };
  const shown = await previewIntervention(outbox, { operation: key, events: [{ id: one.id, version: encodeVersion(one.version) }] });
  const statements = shown.sql.map(({ text }) => text);
  try {
    const finding = await takenBack(write, (db) => runTrial({ outbox, db, operation, author: AUTHOR }, trial, events));
    return { ...blank, statements, ...finding };
  } catch (error) {
    const failure = outbox.database.engine.failure(error);
    if (failure.code === 'connection' || (failure.code === 'other' && failure.state === null)) throw error;
    if (['locked', 'deadlock', 'busy'].includes(failure.code)) return { ...blank, statements, verdict: 'untried', because: 'locked' };
    // A server's message may quote values of a row: its code does not.
    const because = failure.code === 'no_privilege' ? 'no_privilege' : 'failed';
    return { ...blank, statements, verdict: 'does_not', because, detail: `${failure.code} ${failure.state ?? ''}`.trim() };
  }
}

const seenIn = ({ place }: Trial, events: OutboxEvent[]): Seen[] =>
  events.flatMap(({ id, version: token }) => {
    const version = decodeVersion(token ?? '');
    return version?.place === place.key ? [{ id, version }] : [];
  });

/** The newest first, a few at a time, until one gives a result. */
async function runTrial(change: Change, trial: Trial, events: Seen[]): Promise<Finding> {
  let records: RecordEvent[] = [];
  for (let from = 0; from < events.length; from += AT_ONCE) {
    const some = events.slice(from, from + AT_ONCE);
    if ((await applyOperation(change, some.map(forged))).some(({ code }) => code === null))
      return { verdict: 'does_not', because: 'ignores_version', rows: some.map(({ id }) => id) };
    records = await applyOperation(change, some);
    await requireSameTables(change.outbox, change.db);
    const finding = await judge(change, trial, some, records);
    if (finding !== null) return finding;
  }
  return { verdict: 'untried', because: records[0]?.detail?.because ?? records[0]?.code ?? 'no_row' };
}

/** The same event, as if it had been seen otherwise. */
const forged = ({ id, version }: Seen): Seen => ({
  id,
  version: { ...version, exact: other(version.exact), stable: other(version.stable) },
});
const other = (text: string): string => text.replace(/.$/, (last) => (last === '1' ? '2' : '1'));

/** null if no event gives a result: locked by others, too young, or changed meanwhile. */
async function judge(change: Change, trial: Trial, seen: Seen[], records: RecordEvent[]): Promise<Finding | null> {
  const out = records.find(({ detail }) => detail?.because === 'fits_published');
  if (out !== undefined) return { verdict: 'does_not', because: 'fits_published', detail: out.event_id, rows: [out.event_id] };
  const refused = records.filter(({ code }) => code === 'did_not_take' || code === 'already_exists' || code === 'not_supported');
  const done = records.filter(({ code }) => code === null);
  const [first] = done;
  if (first === undefined) {
    const [why] = refused;
    if (why === undefined) return null;
    const rows = refused.map(({ event_id: id }) => id);
    return { verdict: 'does_not', because: why.detail?.because ?? why.code, detail: why.detail?.of ?? null, rows };
  }
  const steps = change.operation.steps(change.outbox).filter(({ source }) => source.key === trial.place.key);
  const changed = [...new Set(done.flatMap(differing))];
  const silent = steps.every(({ target, call, notify }) => target === null && call === null && notify === null);
  if (changed.length === 0 && silent) return { verdict: 'untried', because: 'nothing_changed' };
  const rows = done.map(({ event_id: id }) => id);
  // Read again through the mapping: the state that a second try would find.
  const again = seen.filter(({ id }) => id === first.event_id);
  const [now] = await classify(change, steps, again);
  const written = steps.flatMap(({ set, call }) => [...Object.keys(set), ...(call?.writes ?? [])]);
  const beside = changed.filter((name) => !written.includes(name));
  const notes: ProofResult['notes'] = [
    ...(beside.length === 0 ? [] : [{ code: 'other_columns' as const, detail: beside.join(', ') }]),
    ...(refused.length === 0 ? [] : [{ code: 'some_refused' as const, detail: String(refused.length) }]),
    ...steps.flatMap(({ notify }) => (notify === null ? [] : [{ code: 'notified' as const, detail: notify.channel }])).slice(0, 1),
    ...steps.flatMap(({ call }) => (call === null ? [] : [{ code: 'called' as const, detail: call.function }])).slice(0, 1),
  ];
  return { verdict: 'round_trips', rows, changed, notes, stateAfter: now?.record.detail?.state ?? null };
}

function differing({ before, after }: RecordEvent): string[] {
  const [was = {}, is = {}] = [before, after].map((image) => JSON.parse(image ?? '{}') as Record<string, string | null>);
  return Object.keys(was).filter((name) => name in is && was[name] !== is[name]);
}
