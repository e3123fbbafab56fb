import { IconArrowUp } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import type { OutboxEvent } from '@/lib/shared/model';
import { TextButton } from '../frame/controls';

/** Merges a new reading into the rows on screen without moving any; new rows are counted, and `gone` are the ids of purged or changed ones. */
export function steadyRows<T extends { id: string }>(standing: readonly T[], latest: readonly T[]) {
  const byId = new Map(latest.map((row) => [row.id, row]));
  const known = new Set(standing.map(({ id }) => id));
  const newer = latest.filter(({ id }) => !known.has(id)).length;
  // New rows may have pushed as many over the page's end: those still exist, on the next page.
  const pushedOff = standing.length - newer;
  const gone = standing.filter(({ id }, index) => !byId.has(id) && index < pushedOff).map(({ id }) => id);
  return { rows: standing.map((row) => byId.get(row.id) ?? row), gone: new Set(gone), newer };
}

export type ShownRows<T extends { id: string } = OutboxEvent> = ReturnType<typeof useSteadyRows<T>>;

const NO_ROWS: readonly never[] = [];

interface Standing<T> {
  list: string;
  round: number;
  rows: readonly T[];
  /** The next reading is shown as it comes. */
  follows: boolean;
}

/** Rows that keep their places between readings of one `list` (filter and page). A new `round`, after an intervention, replaces them. */
export function useSteadyRows<T extends { id: string }>(list: string, latest: readonly T[] = NO_ROWS, round: number) {
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
  // The rows on screen are from before the intervention: they stay until the reading after it.
  return standing.round === round ? standing : { ...standing, round, rows: latest, follows: true };
}

/** What rows on screen lack, and a press that shows them all; nothing where `label` is false. */
export function LatestButton({ label, onShow, className }: { label: string | false; onShow: () => void; className?: string }) {
  return (
    <span role="status" className={className}>
      {label !== false && <TextButton size="compact-xs" icon={IconArrowUp} onClick={onShow} label={label} />}
    </span>
  );
}
