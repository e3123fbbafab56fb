import type { RatedPoint } from '@/lib/shared/figures/series-rates';
import type { ChartLine, Pane } from './chart-model';

/** One value of a step: of a line, or of a row of the heat map. */
export interface ReadValue {
  name: string;
  line: ChartLine | null;
  /** null where it is not known. */
  text: string | null;
}

/** A step with thousands of durations is read by its fullest rows. */
const HEAT_ROWS_READ = 5;

/** What a chart says of one step, pane by pane. */
export function readPoint(point: RatedPoint, panes: readonly Pane[], count: (value: number) => string): ReadValue[] {
  return panes.flatMap((pane): ReadValue[] => {
    if (pane.kind === 'heat') return readHeat(point.heat, pane.rowName, count);
    return pane.lines.map((line) => {
      const value = point[line.key];
      return { name: line.label, line, text: value === null ? null : line.format(value) };
    });
  });
}

function readHeat(heat: number[] | null, rowName: (row: number) => string, count: (value: number) => string): ReadValue[] {
  const filled = (heat ?? []).map((events, row) => ({ events, row })).filter(({ events }) => events > 0);
  const least = filled.map(({ events }) => events).sort((a, b) => b - a)[HEAT_ROWS_READ - 1] ?? 0;
  return filled
    .filter(({ events }) => events >= least)
    .slice(0, HEAT_ROWS_READ)
    .map(({ events, row }) => ({ name: rowName(row), line: null, text: count(events) }));
}
