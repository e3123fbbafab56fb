/** What the doctor says about outboxes: the words of the screen, the HTTP surface and the command line. */
import type { AuditLack } from './changes/carrying';
import type { FleetLine, FleetSnapshot } from './figures/fleet';
import type { EngineKey } from './model';

/** act: events are lost, hidden or will stop, unless somebody acts. watch: it costs now and gets worse. note: worth knowing. */
export const SEVERITIES = ['act', 'watch', 'note'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Why a finding is not to be shown among the others. */
export interface Silence {
  reason: string;
  actor: string;
  at: string;
}

/** Values behind a finding, units in their names: `…Bytes`, `…Ms`, `…Share` (of 1), `…PerSecond`, `…At` (ISO 8601); others count. */
export type FindingValues = Record<string, string | number | null>;

export interface Finding {
  /** `<check>` or `<check>:<subject>`: the same from one examination to the next, and what a silence is put on. */
  id: string;
  check: string;
  severity: Severity;
  /** The index, column, role or table it is about; null for the outbox as a whole. */
  subject: string | null;
  values: FindingValues;
  /** Statements for the table's owner to read and run; null where none helps. */
  cure: string | null;
  silence: Silence | null;
}

export interface IndexReport {
  name: string;
  definition: string;
  bytes: number;
  /** Entries when it was last counted; null where it was not. */
  entries: number | null;
  /** How often it was read since `statisticsSince`; null where the engine does not count. */
  scans: number | null;
  valid: boolean;
}

export interface TableReport {
  place: 'main' | 'dead';
  table: string;
  rows: number | null;
  tableBytes: number;
  indexBytes: number;
  /** Growth of table and indexes over the days the doctor has watched; null before the second day. */
  growthBytesPerDay: number | null;
  writesPerSecond: number | null;
  /** Of the updates, those that touched no index; null where the engine does not count. */
  hotShare: number | null;
  indexes: IndexReport[];
}

/** Something the doctor's role may not read, and what would change that. Words under `doctor.unseen.<code>`. */
export interface Unseen {
  code: string;
  cure: string | null;
}

export interface Examination {
  outbox: string;
  name: string;
  database: string;
  engine: EngineKey;
  table: string;
  /** When it was made, ISO 8601 by the console's clock. */
  at: string;
  tookMs: number;
  /** Worst first; silenced ones after all others. */
  findings: Finding[];
  tables: TableReport[];
  /** Since when the server counts; null where it has always. */
  statisticsSince: string | null;
  unseen: Unseen[];
  /** Why the outbox could not be examined; findings are then those of the last time. */
  problem: 'timeout' | 'unavailable' | 'unusable' | null;
}

export interface DoctorSnapshot {
  asOf: string;
  /** In the order of the configuration; an outbox not examined yet is not there. */
  examinations: Examination[];
  /** Ids of outboxes that are being examined for the first time. */
  waiting: string[];
}

export interface DoctorHeadline {
  severity: Severity;
  count: number;
}

export interface DoctorSummary {
  /** The worst finding that are not silenced; null where all is well. */
  worst: Finding | null;
  counts: Record<Severity, number>;
}

/** The fleet, and what the doctor says of each outbox that has an open finding. */
export interface ExaminedFleet extends Omit<FleetSnapshot, 'entries'> {
  /** Worst first. */
  entries: FleetLine[];
  doctor: Record<string, DoctorHeadline>;
  /** Databases with records of interventions that the audit does not have, or may not have. */
  lacks: AuditLack[];
}

const rank = ({ silence, severity }: Finding): number => (silence === null ? 0 : SEVERITIES.length) + SEVERITIES.indexOf(severity);

/** Findings as they are shown: silenced ones last, the worst first, then by name. */
export function rankFindings(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((a, b) => rank(a) - rank(b) || a.id.localeCompare(b.id, 'en'));
}

export function summaryOf(findings: readonly Finding[]): DoctorSummary {
  const open = rankFindings(findings).filter(({ silence }) => silence === null);
  const count = (severity: Severity) => open.filter((finding) => finding.severity === severity).length;
  return { worst: open[0] ?? null, counts: { act: count('act'), watch: count('watch'), note: count('note') } };
}

/** The worst that are not silenced; null where all is well. */
export function headlineOf(findings: readonly Finding[]): DoctorHeadline | null {
  const { worst, counts } = summaryOf(findings);
  return worst === null ? null : { severity: worst.severity, count: counts.act + counts.watch + counts.note };
}
