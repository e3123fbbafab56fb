import type { FleetLine } from '@/lib/shared/figures/fleet';

/** What stands in a line of the table: an outbox, or all outboxes of a database that is away. */
export type FleetItem = { line: FleetLine } | { away: string; lines: FleetLine[] };

/**
 * The lines with those of a database that is away in one: it is one thing that has happened, and thirty lines of it would
 * stand before a relay that stopped. A database with a single outbox keeps that one's line.
 */
export function foldAway(lines: readonly FleetLine[]): FleetItem[] {
  const away = new Map<string, FleetLine[]>();
  for (const line of lines) {
    if (!isAway(line)) continue;
    const { database } = line.outbox;
    away.set(database, [...(away.get(database) ?? []), line]);
  }
  return lines.flatMap((line): FleetItem[] => {
    const together = isAway(line) ? (away.get(line.outbox.database) ?? []) : [];
    if (together.length < 2) return [{ line }];
    return together[0] === line ? [{ away: line.outbox.database, lines: together }] : [];
  });
}

const isAway = ({ unread, summary }: FleetLine): boolean => !unread && summary.diagnosis.verdict === 'source_down';
