import { useTranslations } from 'next-intl';
import type { RatedPoint } from '@/lib/shared/figures/series-rates';
import type { Mark } from '@/lib/shared/figures/marks';
import { useFormat } from '../figures/use-format';
import type { ChartLine, Pane, TimeSpan } from './chart-model';
import { LineSign } from './chart-parts';
import classes from './charts.module.css';

/** One value of a step: of a line, or of a row of the heat map. */
interface ReadValue {
  name: string;
  line: ChartLine | null;
  /** null where it is not known. */
  text: string | null;
}

/** A step with thousands of durations is read by its fullest rows. */
const HEAT_ROWS_READ = 5;

/** What a chart says of one step, pane by pane. */
function readPoint(point: RatedPoint, panes: readonly Pane[], count: (value: number) => string): ReadValue[] {
  return panes.flatMap((pane): ReadValue[] => {
    if (pane.kind === 'heat') return readHeat(point.heat, pane.rowName, count);
    return pane.lines.map((line) => {
      const value = point[line.key];
      return { name: line.label, line, text: value === null ? null : line.format(value) };
    });
  });
}

function readHeat(heat: number[] | null, rowName: (row: number) => string, count: (value: number) => string): ReadValue[] {
  const filled = [...(heat ?? []).entries()].filter(([, events]) => events > 0);
  const fullest = new Set([...filled].sort(([, a], [, b]) => b - a).slice(0, HEAT_ROWS_READ));
  return filled.filter((row) => fullest.has(row)).map(([row, events]) => ({ name: rowName(row), line: null, text: count(events) }));
}

/** How one step is said: when it was, what the chart's lines are there, and what is to be known about it. */
export function useReadingText(panes: readonly Pane[], stepMs: number): (point: RatedPoint) => string {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const when = useStepText();
  return (point) => {
    const values = readPoint(point, panes, format.number).map(({ name, text }) => `${name} ${text ?? words('unknown')}`);
    return [when(Date.parse(point.at), stepMs), ...(point.gap ? [words('gapWhy')] : values)].join(', ');
  };
}

/** "14:02 – 14:03", with the date where the day is not plain from the axis. */
function useStepText(): (from: number, stepMs: number) => string {
  const format = useFormat();
  return (from, stepMs) => {
    const day = format.tick(from, 2 * 86_400);
    const clock = (at: number) => format.tick(at, 0);
    return stepMs >= 86_400_000 ? day : `${day} ${clock(from)} – ${clock(from + stepMs)}`;
  };
}

interface ChartReadingProps {
  point: RatedPoint;
  /** Where on the time axis, from 0 to 1. */
  share: number;
  panes: readonly Pane[];
  span: TimeSpan;
  marks: readonly Mark[];
}

/** The values at the cursor, beside it. */
export function ChartReading({ point, share, panes, span: { stepMs }, marks }: ChartReadingProps) {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const when = useStepText();
  const at = Date.parse(point.at);
  const within = marks.filter((mark) => Date.parse(mark.at) >= at && Date.parse(mark.at) < at + stepMs);
  const beside = `calc(${(share > 0.5 ? 1 - share : share) * 100}% + 12px)`;
  const values = readPoint(point, panes, format.number);
  return (
    <div className={classes.reading} data-reading style={share > 0.5 ? { right: beside } : { left: beside }} aria-hidden>
      <p>{when(at, stepMs)}</p>
      {point.gap ? (
        <p className={classes.note}>{words('gapWhy')}</p>
      ) : (
        <dl>
          {values.map(({ name, line, text }) => (
            <div key={name}>
              <dt>
                {line && <LineSign line={line} />}
                {name}
              </dt>
              <dd>{text ?? words('unknown')}</dd>
            </div>
          ))}
        </dl>
      )}
      {point.underWay ? (
        <p className={classes.note}>{words('underWay')}</p>
      ) : (
        point.provisional && <p className={classes.note}>{words('provisional')}</p>
      )}
      {within.map((mark) => (
        <p key={mark.id} className={classes.note}>
          {words(`marks.${mark.kind}`)}: {mark.text}
        </p>
      ))}
    </div>
  );
}
