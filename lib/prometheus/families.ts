/** What /api/metrics exposes: every metric family with its labels. docs/prometheus.md, deploy/ and a test hold to this list. */
import { SHOWN_METRICS, type ShownMetric } from '@/lib/shared/figures/metrics';
import type { METRICS } from '@/lib/shared/figures/metrics.gen';

export interface Family {
  type: 'gauge' | 'counter' | 'histogram';
  labels: readonly Label[];
  /** One English sentence: the HELP line, and the row in docs/prometheus.md. */
  help: string;
}
export type Label = 'outbox' | 'state' | 'type' | 'verdict' | 'le' | 'database' | 'role' | 'use' | 'slot';

export function gaugesOf(metrics: readonly Pick<ShownMetric, 'gauge'>[]): Record<string, Family> {
  const gauges = metrics.flatMap(({ gauge }) => gauge ?? []);
  return Object.fromEntries(gauges.map(({ family, help }) => [family, { type: 'gauge', labels: ['outbox'], help }]));
}
type MetricFamily = Extract<(typeof METRICS)[number], { gauge: object }>['gauge']['family'];

const families = <Name extends string>(type: Family['type'], labels: readonly Label[], helps: Record<Name, string>) =>
  Object.fromEntries(Object.entries<string>(helps).map(([name, help]) => [name, { type, labels, help }])) as Record<Name, Family>;

/** Families that do not belong to a metric. */
export const FIXED_FAMILIES = {
  ...families('gauge', ['outbox'], {
    outbox_console_up:
      'Whether the outbox could be read: 0 when its database is away or too slow or its table cannot be used; its depths and ages are then absent, its verdict is not.',
    outbox_console_reading_timestamp_seconds: "When the figures of the outbox were read, by its database's clock.",
  }),
  ...families('gauge', ['outbox', 'state'], {
    outbox_console_depth_events: 'Events by state now, the states disjoint; a state the table cannot show is absent.',
  }),
  ...families('gauge', ['outbox'], { outbox_console_waiting_events: 'Events that are pending or retrying now.' }),
  ...families('gauge', ['outbox', 'state'], {
    outbox_console_depth_capped:
      'Whether a depth stopped counting, so that there are at least as many: 1 or 0; waiting is pending and retrying together.',
  }),
  ...families('gauge', ['outbox'], {
    outbox_console_oldest_pending_age_seconds:
      'Age of the oldest event that is pending or retrying; 0 when none is, absent where the table cannot say.',
    outbox_console_last_published_timestamp_seconds: 'When an event was last published; absent where the table cannot say.',
  }),
  ...families('gauge', ['outbox', 'type'], {
    outbox_console_type_waiting_events:
      'Events that are pending or retrying now, by type; types beyond the first 50 of an outbox, and events without one, are other.',
    outbox_console_type_dead_events:
      'Events that are dead now, by type; types beyond the first 50 of an outbox, and events without one, are other.',
  }),
  ...families('gauge', ['outbox', 'verdict'], {
    outbox_console_verdict: 'What is wrong with the outbox: 1 for the worst verdict that holds, 0 for every other.',
    outbox_console_verdict_holds: 'Whether the verdict holds: 1 or 0; several may, as when events die and others are stuck.',
  }),
  ...families('gauge', ['outbox', 'slot'], {
    outbox_console_slot_active:
      'Whether anybody is connected to the replication slot behind the outbox: 1 or 0; 0 too where the slot is lost or not there, absent where no slot can be told.',
    outbox_console_slot_inactive_seconds:
      'How long nobody has been connected to the slot; 0 while somebody is, absent where the server does not tell (before PostgreSQL 17).',
    outbox_console_slot_lag_bytes:
      "Log that the slot's reader has not confirmed, of the whole server: events are a part of it; absent where the slot is lost or not there.",
    outbox_console_slot_held_bytes: 'Log that the server keeps for the slot; absent where the slot is lost or not there.',
    outbox_console_slot_safe_bytes:
      'Log that can still be written before the server may take away what the slot needs; absent without such a limit.',
  }),
  ...families('counter', ['outbox'], {
    outbox_console_created_total:
      'Events created since this console started, seen when they are in the table or have been folded: up to a minute late; absent while a depth is capped.',
    outbox_console_published_total: 'Events published since the outbox was first watched.',
  }),
  ...families('counter', ['outbox', 'type'], {
    outbox_console_retries_total:
      'Attempts beyond the first since the outbox was first watched, by type; absent where the table counts no attempts.',
    outbox_console_errors_total: 'Attempts that failed since the outbox was first watched, by type; absent where the table does not tell.',
  }),
  ...families('histogram', ['outbox', 'le'], {
    outbox_console_publish_latency_seconds:
      'Time from creation to publishing of the events published since the outbox was first watched, but for those that operators changed; absent where the table cannot say.',
  }),
  ...families('gauge', ['outbox'], {
    outbox_console_collector_up: 'Whether the history of the outbox is being collected: 0 while it has not begun or cannot read.',
    outbox_console_collector_lag_seconds: 'How long ago the collected history of the outbox ends; some 12 s when all is well.',
    outbox_console_collector_backfill_ratio: 'How much of the history the table still held at the start has been collected: 0 to 1.',
  }),
  ...families('counter', ['outbox'], {
    outbox_console_collector_queries_total: 'Statements the collector has sent to the database of the outbox since it was first watched.',
    outbox_console_collector_rows_total: 'Rows the collector has got from the database of the outbox since it was first watched.',
    outbox_console_collector_seconds_total: 'Time the statements of the collector have taken since the outbox was first watched.',
    outbox_console_reading_queries_total:
      'Readings of the outbox for screens, scripts and this endpoint since this console started: one statement each, shared by all.',
    outbox_console_reading_rows_total: 'Rows those readings were made of.',
    outbox_console_reading_seconds_total: 'Time those readings have taken, waiting for a connection and failed ones included.',
  }),
  ...families('gauge', ['database'], {
    outbox_console_database_up: 'Whether this console can reach the database: 1 or 0; absent before it has tried.',
  }),
  ...families('gauge', ['database', 'role', 'use'], {
    outbox_console_connections:
      'Connections this console holds to the database, by the kind of work they are for: reader, content, collector or operator; active, or idle.',
  }),
  ...families('gauge', ['database', 'role'], {
    outbox_console_connections_limit:
      'The most connections of a kind that this console opens to the server of the database, over all databases there.',
    outbox_console_connections_waiting:
      'Pieces of work that wait for a connection to the database because all that are allowed are in use.',
  }),
  ...families('gauge', ['database'], {
    outbox_console_audit_complete:
      'Whether the audit is known to have every intervention record of the database: 1 or 0; 0 too while that cannot be told.',
    outbox_console_audit_lacking_records:
      'Intervention records of the database that the audit is known to lack, 10,000 at the most; absent before the first look.',
    outbox_console_audit_complete_timestamp_seconds:
      'When all intervention records of the database were last compared with the audit and none was lacking: every five minutes; absent before that.',
  }),
};

export const FAMILIES = { ...FIXED_FAMILIES, ...(gaugesOf(SHOWN_METRICS) as Record<MetricFamily, Family>) };
export type FamilyName = keyof typeof FAMILIES;

/** The states with a depth, in the order of an event's life. */
export const DEPTH_STATES = ['pending', 'retrying', 'processing', 'dead'] as const;
