import { useMemo, useState } from 'react';
import type { OutboxEvent } from '@/lib/shared/model';

interface SteadyRows<T extends { id: string }> {
  /** The rows as they stand on screen, each as it was read last. */
  rows: T[];
  /** Ids of rows that the list does not hold any more: purged, or no longer matching the filter. */
  gone: ReadonlySet<string>;
  newer: number;
}

/** Lays a new reading over the rows on screen so that none moves under the pointer; new ones are counted. */
export function steadyRows<T extends { id: string }>(standing: readonly T[], latest: readonly T[]): SteadyRows<T> {
  const byId = new Map(latest.map((row) => [row.id, row]));
  const known = new Set(standing.map(({ id }) => id));
  const newer = latest.filter(({ id }) => !known.has(id)).length;
  // As many rows as have come may have been pushed over the page's end: these are still there, on the next page.
  const pushedOff = standing.length - newer;
  const gone = standing.filter(({ id }, index) => !byId.has(id) && index < pushedOff).map(({ id }) => id);
  return { rows: standing.map((row) => byId.get(row.id) ?? row), gone: new Set(gone), newer };
}

export interface ShownRows<T extends { id: string } = OutboxEvent> extends SteadyRows<T> {
  showLatest: () => void;
}

const NO_ROWS: readonly never[] = [];

interface Standing<T> {
  list: string;
  round: number;
  rows: readonly T[];
  /** The next reading is shown as it comes. */
  follows: boolean;
}

/** Rows that keep their places between readings of one `list` (filter and page). A new `round`, after an intervention, shows the next reading as it comes. */
export function useSteadyRows<T extends { id: string }>(list: string, latest: readonly T[] = NO_ROWS, round: number): ShownRows<T> {
  const [standing, setStanding] = useState<Standing<T>>({ list, round, rows: latest, follows: false });
  const current = next(standing, list, round, latest);
  if (current !== standing) setStanding(current);

  const steady = useMemo(() => steadyRows(current.rows, latest), [current.rows, latest]);
  return { ...steady, showLatest: () => setStanding({ list, round, rows: latest, follows: false }) };
}

function next<T>(standing: Standing<T>, list: string, round: number, latest: readonly T[]): Standing<T> {
  const other = standing.list !== list || (standing.rows.length === 0 && latest.length > 0);
  if (other || (standing.follows && standing.round === round && latest !== standing.rows))
    return { list, round, rows: latest, follows: false };
  // What is on screen now is the list before the intervention: it stands until the reading after it.
  return standing.round === round ? standing : { ...standing, round, rows: latest, follows: true };
}
