/** The doctor's types for the screen, HTTP and the command line. */
import type { AuditLack } from './changes/carrying';
import type { FleetLine, FleetSnapshot } from './figures/fleet';
import type { Verdict, VerdictSpan } from './figures/verdicts';
import type { AuditEntry, EngineKey } from './model';
import type { DeadLetterGroup } from './dead-letter-groups';
import type { Money } from './text/money';

/** act: events are lost, hidden or will stop without action. watch: it costs now and gets worse. note: worth knowing. */
export const SEVERITIES = ['act', 'watch', 'note'] as const;
export type Severity = (typeof SEVERITIES)[number];

export type Silence = Record<'reason' | 'actor' | 'at', string>;

/** A finding's values, units in their names: `…Bytes`, `…Ms`, `…Share` (of 1), `…PerSecond`, `…At` (ISO 8601); others are counts. */
export type FindingValues = Record<string, string | number | null>;

export interface Finding {
  /** `<check>` or `<check>:<subject>`: stable between examinations; a silence refers to it. */
  id: string;
  check: string;
  severity: Severity;
  /** The index, column, role or table it is about; null for the outbox as a whole. */
  subject: string | null;
  values: FindingValues;
  /** Statements for the table's owner to read and run; null if none helps. */
  cure: string | null;
  silence: Silence | null;
}

export interface IndexReport {
  name: string;
  definition: string;
  bytes: number;
  /** Entries at the last count; null if never counted. */
  entries: number | null;
  /** Scans since `statisticsSince`; null if the engine does not count them. */
  scans: number | null;
  valid: boolean;
}

export interface TableReport {
  place: 'main' | 'dead';
  table: string;
  rows: number | null;
  tableBytes: number;
  indexBytes: number;
  /** Growth of table and indexes over the days the doctor has sampled; null before the second day. */
  growthBytesPerDay: number | null;
  writesPerSecond: number | null;
  /** Share of updates that touched no index; null if the engine does not count them. */
  hotShare: number | null;
  indexes: IndexReport[];
}

/** Something the doctor's role may not read, and the statement that changes that. Texts under `doctor.unseen.<code>`. */
export interface Unseen {
  code: string;
  cure: string | null;
}

export interface Examination extends Record<'outbox' | 'name' | 'database' | 'table', string> {
  engine: EngineKey;
  /** When it was made, ISO 8601 by the console's clock. */
  at: string;
  tookMs: number;
  /** Worst first; silenced ones after all others. */
  findings: Finding[];
  tables: TableReport[];
  /** When the server's statistics began; null if they were never reset. */
  statisticsSince: string | null;
  unseen: Unseen[];
  /** Why the outbox could not be examined; the findings are then those of the last examination. */
  problem: 'timeout' | 'unavailable' | 'unusable' | null;
}

export interface DoctorSnapshot {
  asOf: string;
  /** In the order of the configuration, without outboxes not examined yet. */
  examinations: Examination[];
  waiting: string[];
  /** Of outboxes whose verdict is known and not `healthy`: the table may be well, and its relay not. */
  verdicts?: Record<string, Verdict>;
}

export type DoctorHeadline = NonNullable<ReturnType<typeof headlineOf>>;
export type DoctorSummary = ReturnType<typeof summaryOf>;

/** What stands below the lines: why events died, and what happened in the last hour. */
export interface FleetNews {
  /** Largest first, over all outboxes, and how many more there are. */
  groups: DeadLetterGroup[];
  moreGroups: number;
  /** How many causes the dead events of each outbox have, as far as they were read; `atLeast` where there may be more. */
  causesOf: Record<string, { count: number; atLeast: boolean }>;
  /**
   * `complete`: no dead event is left out. Otherwise of how many `rows` of each outbox, and of how many `outboxes`, they are (0: of all), and
   * of how many outboxes they were not read in time (`unread`).
   */
  searched: Record<'rows' | 'outboxes' | 'unread', number> & { complete: boolean };
  /** What all those dead events are worth, by currency; `whole` if no amount is missing in it. */
  atStake: { sums: Money<string>[]; whole: boolean };
  /** What operators did in the last hour, newest first. */
  actions: AuditEntry[];
  /** What began or ended in the last hour, the last change first. */
  verdicts: VerdictSpan[];
  /** Whether these are all of the hour; `unread` while the store does not answer. */
  changes: 'all' | 'newest' | 'unread';
}

/** The fleet, with the doctor's headline for each outbox with an open finding. */
export interface ExaminedFleet extends Omit<FleetSnapshot, 'entries'> {
  /** Worst first. */
  entries: FleetLine[];
  doctor: Record<string, DoctorHeadline>;
  news: FleetNews;
  /** Databases with intervention records that are, or may be, missing in the audit. */
  lacks: AuditLack[];
  /** Outboxes whose rules ask for a second person, while no account may be one. */
  approvalsBlocked?: string[];
}

const rank = ({ silence, severity }: Finding): number => (silence === null ? 0 : SEVERITIES.length) + SEVERITIES.indexOf(severity);

/** Findings in display order: silenced ones last, the worst first, then by id. */
export const rankFindings = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort((a, b) => rank(a) - rank(b) || a.id.localeCompare(b.id, 'en'));

/** The worst finding that is not silenced, null if there is none, and how many are open. */
export function summaryOf(findings: readonly Finding[]) {
  const open = rankFindings(findings).filter(({ silence }) => silence === null);
  const count = (severity: Severity) => open.filter((finding) => finding.severity === severity).length;
  return { worst: open[0] ?? null, counts: { act: count('act'), watch: count('watch'), note: count('note') } };
}

/** The worst severity and the count of open findings; null if there are none. */
export function headlineOf(findings: readonly Finding[]) {
  const { worst, counts } = summaryOf(findings);
  return worst === null ? null : { severity: worst.severity, count: counts.act + counts.watch + counts.note };
}
