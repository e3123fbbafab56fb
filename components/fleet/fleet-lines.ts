import type { FleetLine } from '@/lib/shared/figures/fleet';
import { VERDICTS, type Verdict } from '@/lib/shared/figures/verdicts';

/** Which lines of the fleet are shown; what is left out is not asked for. `needing`: every verdict but healthy. */
export interface FleetFilter {
  q?: string;
  verdict?: Verdict | 'needing';
  database?: string;
}

/** The filter of an address; what it does not know in it is left out. */
export function readFleetFilter(search: { get(name: string): string | null }): FleetFilter {
  const verdict = search.get('verdict');
  return {
    q: search.get('q') ?? undefined,
    verdict: verdict === 'needing' ? verdict : VERDICTS.find((one) => one === verdict),
    database: search.get('database') ?? undefined,
  };
}

export function fleetQuery(filter: FleetFilter): string {
  return new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== undefined && value !== '')).toString();
}

/** Every word of the search is in the name, id, table, database or shape of the outbox. */
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

/** What stands in a line of the table: an outbox, or all outboxes of a database that is away. */
type FleetItem = { line: FleetLine } | { away: string; lines: [FleetLine, ...FleetLine[]] };

/** The lines with those of a database that is away in one, for they are one thing that has happened; a single one keeps its line. */
export function foldQuietLines(lines: readonly FleetLine[]): FleetItem[] {
  return lines.flatMap((line): FleetItem[] => {
    const { database } = line.outbox;
    const together = isAway(line) ? lines.filter((other) => isAway(other) && other.outbox.database === database) : [];
    if (together.length < 2) return [{ line }];
    return together[0] === line ? [{ away: database, lines: [line, ...together.slice(1)] }] : [];
  });
}

const isAway = ({ unread, summary }: FleetLine): boolean => !unread && summary.diagnosis.verdict === 'source_down';
