import type { FleetLine } from '@/lib/shared/figures/fleet';
import { VERDICTS, type Verdict } from '@/lib/shared/figures/verdicts';

/** Which lines of the fleet are shown; parts left out do not filter. `needing`: every verdict but healthy. */
export interface FleetFilter {
  q?: string;
  verdict?: Verdict | 'needing';
  database?: string;
}

/** The filter of a URL; unknown values are ignored. */
export function readFleetFilter(search: { get(name: string): string | null }): FleetFilter {
  const verdict = search.get('verdict');
  return {
    q: search.get('q') ?? undefined,
    verdict: verdict === 'needing' ? verdict : VERDICTS.find((one) => one === verdict),
    database: search.get('database') ?? undefined,
  };
}

export const fleetQuery = (filter: FleetFilter): string =>
  new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== undefined && value !== '')).toString();

/** Whether database and verdict match, and every searched word is in the name, id, table, database or shape. */
export function matchesFleetFilter({ outbox, summary, unread }: FleetLine, { q = '', verdict, database }: FleetFilter): boolean {
  if (database !== undefined && outbox.database !== database) return false;
  const is = unread ? null : summary.diagnosis.verdict;
  if (verdict === 'needing' ? is === null || is === 'healthy' : verdict !== undefined && is !== verdict) return false;
  const text = [outbox.name, outbox.id, outbox.table, outbox.database, outbox.shape].join(' ').toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** A line of the table: an outbox, or all outboxes of an unreachable database. */
type FleetItem = { line: FleetLine } | { away: string; lines: [FleetLine, ...FleetLine[]] };

/** Joins the lines of an unreachable database, which have one cause, into one; a single line stays. */
export function foldQuietLines(lines: readonly FleetLine[]): FleetItem[] {
  return lines.flatMap((line): FleetItem[] => {
    const { database } = line.outbox;
    const together = isAway(line) ? lines.filter((other) => isAway(other) && other.outbox.database === database) : [];
    if (together.length < 2) return [{ line }];
    return together[0] === line ? [{ away: database, lines: [line, ...together.slice(1)] }] : [];
  });
}

const isAway = ({ unread, summary }: FleetLine): boolean => !unread && summary.diagnosis.verdict === 'source_down';
