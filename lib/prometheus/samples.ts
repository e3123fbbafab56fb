import { countsRows, type CollectorStatus } from '@/lib/shared/figures/collection';
import type { Carrying } from '@/lib/shared/changes/carrying';
import { CONNECTION_ROLES } from '@/lib/shared/connections';
import type { FleetDatabase } from '@/lib/shared/figures/fleet';
import { hasNoValue, type Count } from '@/lib/shared/figures/measured';
import { amountOf, SHOWN_METRICS } from '@/lib/shared/figures/metrics';
import { VERDICTS } from '@/lib/shared/figures/verdicts';
import type { Summary } from '@/lib/shared/model';
import type { Current } from '@/lib/snapshots/snapshots';
import { OTHER, type CreatedTotals, type TypeLabels } from './counters';
import { DEPTH_STATES, type FamilyName, type Label } from './families';
import type { LatencyTotals, OutboxTotals } from './totals';

/** One line of the text. */
export type Sample = { family: FamilyName; labels: Partial<Record<Label, string>>; value: number };

export interface Samples {
  values: Sample[];
  /** Of outboxes whose latency is known. */
  latencies: { outbox: string; latency: LatencyTotals }[];
}

/** What is known of an outbox; `totals`: null while nothing has been collected, or when the store does not answer. */
export type Known = { current: Current; totals: OutboxTotals | null; collector: CollectorStatus };
/** What the process remembers from one scrape to the next. */
export type Remembered = { labels: TypeLabels; created: CreatedTotals };

/** The samples of one outbox. Figures that are not current are left out: an old depth would look like a new one. */
export function samplesOf(known: Known, { labels, created }: Remembered): Samples {
  const { current, totals, collector } = known;
  const { id, up, summary, cost } = current;
  const values: Sample[] = [];
  const add = adder(values, { outbox: id });
  add('outbox_console_up', Number(up));
  const { diagnosis } = summary;
  for (const verdict of VERDICTS) {
    add('outbox_console_verdict', Number(diagnosis.verdict === verdict), { verdict });
    add('outbox_console_verdict_holds', Number(diagnosis.holds.some((one) => one.verdict === verdict)), { verdict });
  }
  const told = totals !== null && countsPublished(totals, collector) ? totals : null;
  if (told !== null) {
    if (up) add('outbox_console_created_total', created(id, told.created, summary.depth));
    addTotals(add, told, countsAttempts(summary));
  }
  addCollector(add, collector);
  add('outbox_console_reading_queries_total', cost.readings);
  add('outbox_console_reading_rows_total', cost.rows);
  add('outbox_console_reading_seconds_total', cost.milliseconds / 1_000);
  if (up) addFigures(add, id, summary, labels);
  const latency = told?.latency ?? null;
  return { values, latencies: latency === null ? [] : [{ outbox: id, latency }] };
}

type Add = (family: FamilyName, value: number | null, more?: Sample['labels']) => void;

/** Adds samples with these labels; leaves out values that are null, not finite or negative. */
const adder =
  (samples: Sample[], labels: Sample['labels']): Add =>
  (family, value, more = {}) => {
    if (value !== null && Number.isFinite(value) && value >= 0) samples.push({ family, labels: { ...labels, ...more }, value });
  };

function addFigures(add: Add, outbox: string, summary: Summary, labels: TypeLabels): void {
  const { depth, oldestPendingAt, lastPublishedAt, asOf } = summary;
  add('outbox_console_reading_timestamp_seconds', secondsOf(asOf));
  for (const state of DEPTH_STATES) add('outbox_console_depth_events', depth[state].count, { state });
  add('outbox_console_waiting_events', depth.waiting.count);
  for (const state of [...DEPTH_STATES, 'waiting'] as const) {
    if (depth[state].count !== null) add('outbox_console_depth_capped', Number(depth[state].known === 'capped'), { state });
  }
  // Certainly nothing waits: the age is 0. If events wait and none has a time, the table keeps none: the age is left out.
  const age = oldestPendingAt === null ? (isZero(depth.waiting) ? 0 : null) : secondsBetween(oldestPendingAt, asOf);
  add('outbox_console_oldest_pending_age_seconds', age);
  add('outbox_console_last_published_timestamp_seconds', lastPublishedAt === null ? null : secondsOf(lastPublishedAt));
  for (const { id, gauge } of SHOWN_METRICS) if (gauge !== null) add(gauge.family as FamilyName, amountOf(summary[id]));
  addReplicationSlot(add, summary);
  for (const state of ['waiting', 'dead'] as const)
    for (const [type, value] of depthByLabel(outbox, summary, state, labels)) add(`outbox_console_type_${state}_events`, value, { type });
}

function addReplicationSlot(add: Add, { slot, asOf }: Summary): void {
  if (slot?.name == null || slot.state === null) return;
  const labels = { slot: slot.name };
  const inactiveSeconds = slot.inactiveSince === null ? null : secondsBetween(slot.inactiveSince, asOf);
  add('outbox_console_slot_active', Number(slot.state === 'active'), labels);
  add('outbox_console_slot_inactive_seconds', slot.state === 'active' ? 0 : inactiveSeconds, labels);
  add('outbox_console_slot_lag_bytes', slot.lagBytes, labels);
  add('outbox_console_slot_held_bytes', slot.heldBytes, labels);
  add('outbox_console_slot_safe_bytes', slot.safeBytes, labels);
}

function addTotals(add: Add, { published, types }: OutboxTotals, attempts: boolean): void {
  add('outbox_console_published_total', published);
  if (!attempts) return;
  for (const [type, { retries, errors }] of types) {
    add('outbox_console_retries_total', retries, { type });
    add('outbox_console_errors_total', errors, { type });
  }
}

function addCollector(add: Add, { state, foldedTo, backfill, cost }: CollectorStatus): void {
  add('outbox_console_collector_up', Number(state !== 'waiting' && state !== 'blind'));
  add('outbox_console_collector_lag_seconds', foldedTo === null ? null : secondsBetween(foldedTo, new Date().toISOString()));
  add('outbox_console_collector_backfill_ratio', backfill === null ? Number(state !== 'waiting') : backfill.share);
  add('outbox_console_collector_queries_total', cost.statements);
  add('outbox_console_collector_rows_total', cost.rows);
  add('outbox_console_collector_seconds_total', cost.milliseconds / 1_000);
}

/** Depths by label; `other` includes what the reading does not list by type. Empty if the table shows none by type. */
function depthByLabel(outbox: string, { byType, depth }: Summary, state: 'waiting' | 'dead', labels: TypeLabels): Map<string, number> {
  const all = depth[state];
  const known = byType.flatMap((figures) => (figures[state] === null ? [] : [[figures.type, figures[state]] as const]));
  if (all.count === null || (known.length === 0 && all.count > 0)) return new Map();
  const sums = new Map<string, number>();
  const addTo = (label: string, value: number) => sums.set(label, (sums.get(label) ?? 0) + value);
  for (const [type, value] of known) addTo(labels.labelOf(outbox, type), value);
  const told = known.reduce((sum, [, value]) => sum + value, 0);
  // A capped count does not show how many are left.
  if (all.known === 'capped') sums.delete(OTHER);
  else addTo(OTHER, Math.max(0, all.count - told));
  return sums;
}

/** If publishing is observed, nothing seen so far may mean that it could not be seen: that is not a zero. */
const countsPublished = ({ published }: OutboxTotals, { method }: CollectorStatus): boolean =>
  published > 0 || method === null || countsRows(method);
/** Whether the table counts attempts; false before it was read. */
const countsAttempts = ({ retries: { why } }: Summary): boolean => why !== 'no_attempts' && !hasNoValue(why);
/** Never below zero: clocks may disagree. */
const secondsBetween = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from)) / 1_000;
const secondsOf = (iso: string): number => Date.parse(iso) / 1_000;
const isZero = ({ count, known }: Count): boolean => count === 0 && known === 'exact';

/** The samples of the databases: whether they answer, and the connections this console holds. */
export function databaseSamples(databases: readonly FleetDatabase[]): Sample[] {
  const samples: Sample[] = [];
  for (const { id: database, state, connections } of databases) {
    const add = adder(samples, { database });
    add('outbox_console_database_up', state === 'unknown' ? null : Number(state === 'up'));
    for (const role of CONNECTION_ROLES) {
      const counts = connections[role];
      if (counts === undefined) continue;
      add('outbox_console_connections', counts.inUse, { role, use: 'active' });
      add('outbox_console_connections', counts.idle, { role, use: 'idle' });
      add('outbox_console_connections_limit', counts.limit, { role });
      add('outbox_console_connections_waiting', counts.waiting, { role });
    }
  }
  return samples;
}

/** For each database, whether its intervention records are all in the audit. */
export function auditSamples(carrying: readonly Carrying[]): Sample[] {
  const samples: Sample[] = [];
  for (const { database, why, lacking, completeAt } of carrying) {
    const add = adder(samples, { database });
    add('outbox_console_audit_complete', Number(why === null));
    add('outbox_console_audit_lacking_records', lacking);
    add('outbox_console_audit_complete_timestamp_seconds', completeAt === null ? null : secondsOf(completeAt));
  }
  return samples;
}
