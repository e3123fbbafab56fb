/** What is wrong with the rows: their states, their attempts, their times. */
import { decidingColumn, statusColumns } from '@/lib/shape/reason';
import type { FindingValues, Severity } from '@/lib/shared/doctor';
import { type CheckInput, type Checks, type Found } from './check';
import { DAY_MS, nameOf } from './facts/facts';

const SHOWN = 8;
/** Half of what the column holds: at one failure per second, a small counter has hours left. */
const NEAR_SHARE = 0.5;
const FORGOTTEN_MS = 30 * DAY_MS;
const AHEAD_MS = 60_000;

const quoted = (values: readonly string[]): string => values.map((value) => `“${value}”`).join(', ');

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

/** A finding about this many events; none if there are none, or they were not counted. */
const about = (severity: Severity, events: number | undefined, values: FindingValues): Found[] =>
  events === undefined || events === 0 ? [] : [{ severity, values: { ...values, events } }];

/** Words that rules name in case-insensitive columns, in lower case. */
function caselessWords({ outbox, facts }: CheckInput): string[] {
  return [...statusColumns(outbox.shape)].flatMap(([column, named]) =>
    facts.main.columns.get(column)?.caseless === true ? [...named].map((word) => word.toLowerCase()) : [],
  );
}

/** Frequent values of a status column that no rule names; only where one column alone decides. */
function frequentUnnamed({ outbox, facts }: CheckInput): { value: string; share: number }[] {
  const deciding = decidingColumn(outbox.shape);
  const known = deciding === null ? undefined : facts.main.columns.get(deciding.column);
  if (deciding === null || known === undefined) return [];
  const same = (value: string): string => (known.caseless ? value.toLowerCase() : value);
  const names = new Set([...deciding.named].map(same));
  const nothing = known.nullShare === 0 ? [] : [{ value: 'NULL', share: known.nullShare }];
  return [...nothing, ...known.frequent.filter(({ value }) => !names.has(same(value)))];
}

export const ROW_CHECKS: Checks = {
  /** Rows whose state no rule names: they are in no figure, and whether a relay takes them is unknown. */
  unmapped_status(input) {
    const { rows, main } = input.facts;
    // Those that differ only in case have a check of their own.
    const words = caselessWords(input);
    const unnamed = rows.unmapped.values.filter(({ value }) => !words.includes(value.toLowerCase()));
    const seen = new Map(unnamed.map(({ value, rows: count }) => [value, count]));
    for (const { value, share } of frequentUnnamed(input)) if (!seen.has(value)) seen.set(value, Math.round(share * (main.rows ?? 0)));
    if (seen.size === 0) return [];
    const values = { values: quoted([...seen.keys()].slice(0, SHOWN)), kinds: seen.size, looked: rows.unmapped.looked };
    return [{ severity: 'act', values: { ...values, events: sumOf([...seen.values()]) } }];
  },
  /** Rows whose status differs from a rule's word only in case: the relay's comparison takes them, the console's does not. */
  status_case(input) {
    const words = caselessWords(input);
    const rows = input.facts.rows.unmapped.values.filter(({ value }) => words.includes(value.toLowerCase()));
    return about('act', sumOf(rows.map((row) => row.rows)), { values: quoted(rows.map(({ value }) => value)) });
  },
  /** Rows that used up their attempts and still count as waiting: neither the relay nor a purge takes them. */
  stranded_rows({ outbox, facts }) {
    const { stranded, oldestStrandedMs = null } = facts.rows.waiting ?? {};
    return about('act', stranded, { maxAttempts: outbox.parameters.maxAttempts, oldestMs: oldestStrandedMs });
  },
  /** Waiting events were tried more often than the limit: the relay does not keep to it, or has another. */
  attempts_beyond({ outbox, facts }) {
    const { beyond, mostAttempts = null } = facts.rows.waiting ?? {};
    return about('act', beyond, { mostAttempts, maxAttempts: outbox.parameters.maxAttempts });
  },
  /** The count of attempts comes near the largest number its column holds; past it every attempt fails with an error. */
  counter_overflow({ outbox, facts, fixes }) {
    const { attempts } = outbox.main.roles;
    const column = attempts === undefined || attempts.path.length > 0 ? undefined : facts.main.columns.get(attempts.column.name);
    if (column?.largest == null) return [];
    const seen = [facts.rows.waiting?.mostAttempts ?? 0, Number(column.largestSeen), ...column.frequent.map(({ value }) => Number(value))];
    const most = Math.max(...seen.filter(Number.isFinite));
    const largest = Number(column.largest);
    if (most < NEAR_SHARE * largest) return [];
    const values = { column: column.name, attempts: most, largest, type: column.type };
    return [{ severity: 'act', subject: column.name, values, cure: fixes.widen(facts.main, column) }];
  },
  /** Dead events that are older than a month: no relay takes them and nothing removes them. */
  dead_forgotten({ facts: { rows } }) {
    const { count, oldestMs = null } = rows.dead ?? {};
    return oldestMs === null || oldestMs < FORGOTTEN_MS ? [] : about('note', count, { oldestMs });
  },
  /** Events dated in the future: a writer's clock, or its time zone, is wrong; they are published late and seem young. */
  events_from_future: ({ facts: { rows } }) =>
    rows.aheadMs === null || rows.aheadMs < AHEAD_MS ? [] : [{ severity: 'watch', values: { aheadMs: rows.aheadMs } }],
  /** Times without a zone that the database fills in by another zone than the one in which they are read. */
  time_zone({ outbox, facts: { zone, main } }) {
    if (zone.minutes === zone.expectedMinutes) return [];
    const filled = (['createdAt', 'publishedAt', 'attemptedAt'] as const).flatMap((role) => {
      const column = outbox.main.roles[role]?.column;
      const text = column?.kind === 'wall_clock' ? (main.columns.get(column.name)?.defaultText ?? '') : '';
      // now() AT TIME ZONE 'UTC' is UTC whatever the session's zone.
      const fills = /now\(|current_timestamp|localtimestamp/i.test(text) && !/timezone\(|at time zone|utc_timestamp/i.test(text);
      return column !== undefined && fills ? [column.name] : [];
    });
    if (filled.length === 0) return [];
    const offMs = Math.abs(zone.minutes - zone.expectedMinutes) * 60_000;
    const zones = { zone: zone.name, expected: outbox.parameters.timeZone, offMs };
    return [{ severity: 'watch', values: { table: nameOf(main), columns: filled.join(', '), ...zones } }];
  },
};
