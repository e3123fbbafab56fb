import { Skeleton, Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import dynamic from 'next/dynamic';
import { memo, useId, useMemo, useState } from 'react';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import type { RatedPoint } from '@/lib/shared/figures/series-rates';
import type { Series, SeriesLine } from '@/lib/shared/model';
import { CHART_HEIGHT, type ChartLine, type ChartProps, type Pane } from '../charts/chart-model';
import { LineSign, lineText, useStepNotes } from '../charts/chart-parts';
import { Figure } from '../figures/figure';
import { useFormat } from '../figures/format';
import { TableHead } from '../frame/note';
import classes from './charts.module.css';
import screen from './outbox.module.css';

/** Charts load after first paint, into reserved space. */
const ChartFrame = dynamic(() => import('../charts/panes').then(({ ChartFrame: loaded }) => loaded), {
  ssr: false,
  loading: () => <Skeleton height={CHART_HEIGHT} radius="sm" animate={false} />,
});

/** A chart with its title and legend, and its numbers as a table for those who cannot see it. `why`: why there is nothing to draw, if so. */
export const ChartPanel = memo(function ChartPanel({ why, ...chart }: ChartProps & { why: UnavailableReason | undefined }) {
  const { title, panes, span } = chart;
  const words = useTranslations('outbox.charts');
  const id = useId();
  const lines = panes.flatMap((pane) => pane.lines as ChartLine[]);
  const isEmpty = isEmptyIn(span);
  const empty = isEmptyChart(chart);
  return (
    <section className={screen.panel} aria-labelledby={id}>
      <div className={classes.panelHead}>
        <Title order={3} id={id}>
          {title}
        </Title>
        {lines.length > 1 && !empty && (
          <ul className={classes.legend}>
            {lines.map((line) => (
              <li key={line.key}>
                <LineSign line={line} />
                {line.label} {/* Lines are missing for one reason: it is shown once. */}
                {line === lines.findLast(isEmpty) && <Figure text={null} why={why ?? whyEmpty(line)} />}
              </li>
            ))}
          </ul>
        )}
      </div>
      {empty ? (
        <div className={classes.noChart} style={{ height: CHART_HEIGHT }}>
          {why === undefined ? words(span.points.every(({ gap }) => gap) ? 'gap' : 'empty') : <Figure text={null} why={why} />}
        </div>
      ) : (
        <div style={{ height: CHART_HEIGHT }}>
          <ChartFrame {...chart} />
        </div>
      )}
      {!empty && <ChartTable {...chart} />}
    </section>
  );
});

const isEmptyIn =
  ({ points }: ChartProps['span']) =>
  ({ key }: ChartLine): boolean =>
    points.every((point) => point[key] === null);

/** Nothing is known of any of its lines. */
export function isEmptyChart({ panes, span }: Pick<ChartProps, 'panes' | 'span'>): boolean {
  const heatKnown = panes.some(({ kind }) => kind === 'heat') && span.points.some(({ heat }) => heat !== null);
  return !heatKnown && panes.every((pane) => (pane.lines as ChartLine[]).every(isEmptyIn(span)));
}

/** The reason for an empty line in a chart with other values. */
const whyEmpty = ({ key }: ChartLine): UnavailableReason => (key === 'oldestAgeMs' ? 'not_watched' : 'no_events');

/** The points of a chart as rows, newest first, rendered on request. */
function ChartTable({ title, ...chart }: ChartProps) {
  const words = useTranslations('outbox.charts');
  const [open, setOpen] = useState(false);
  return (
    <details className={classes.asTable} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {words('asTable')} <span className={classes.hidden}>{title}</span>
      </summary>
      {open && (
        <div className={classes.tableScroll} role="region" aria-label={words('tableOf', { title })} tabIndex={0}>
          <Rows {...chart} />
        </div>
      )}
    </details>
  );
}

function Rows({ panes, span: { points, stepMs }, marks }: Pick<ChartProps, 'panes' | 'span' | 'marks'>) {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const columns = panes.flatMap((pane): { head: string; text: (point: RatedPoint) => string | null }[] =>
    pane.kind === 'heat'
      ? [...pane.boundsMs, Infinity].map((_, row) => ({
          head: `${pane.rowName(row)}, ${words('units.events')}`,
          text: ({ heat }) => (heat === null ? null : format.number(heat[row] ?? 0)),
        }))
      : pane.lines.map((line) => ({ head: `${line.label}, ${pane.unit}`, text: (point) => lineText(line, point) })),
  );
  const notes = useStepNotes(marks, stepMs);
  return (
    <table className={classes.numbers}>
      <TableHead columns={[words('time', { zone: format.timeZone }), ...columns.map(({ head }) => head), words('notes')]} />
      <tbody>
        {points.toReversed().map((point) => (
          <tr key={point.at} data-at={point.at}>
            <th scope="row">{format.absolute(point.at).slice(0, 16)}</th>
            {columns.map(({ head, text }) => (
              <td key={head}>{text(point) ?? words('unknown')}</td>
            ))}
            <td>{[...(point.gap ? [words('gap')] : []), ...notes(point)].join(', ')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ChartSpec {
  id: 'depth' | 'flow' | 'latency' | 'heat' | 'failures' | 'dead';
  /** The line of the series whose `why` applies to the chart. */
  of: SeriesLine;
  panes: Pane[];
}

/** The charts of an outbox, in the order they are shown; stable until the step or the language changes. */
export function useChartSpecs({ stepSeconds, heatBoundsMs }: Pick<Series, 'stepSeconds' | 'heatBoundsMs'>): ChartSpec[] {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const bounds = heatBoundsMs.join();
  return useMemo(() => {
    const boundsMs = bounds === '' ? [] : bounds.split(',').map(Number);
    const step = format.age(stepSeconds * 1_000);
    const perStep = words('units.perStep', { step });
    const line = (key: ChartLine['key'], hue: ChartLine['hue'], say: ChartLine['format'], more?: Partial<ChartLine>): ChartLine => ({
      key,
      label: words(`lines.${key}`),
      hue,
      format: say,
      ...more,
    });
    const count = (value: number) => format.number(value);
    const { age, latency: duration, rate } = format;
    const events = { kind: 'lines', scale: 'linear', unit: words('units.events'), format: count } as const;
    const lower = (row: number) => boundsMs[row - 1] ?? 0;
    const rowName = (row: number) => {
      const upper = boundsMs[row];
      if (upper === undefined) return words('heatOver', { from: duration(lower(row)) });
      return row === 0
        ? words('heatUpTo', { to: duration(upper) })
        : words('heatBetween', { from: duration(lower(row)), to: duration(upper) });
    };
    const ages = { kind: 'lines', scale: 'ages', unit: words('units.oldest'), format: age } as const;
    const durations = { kind: 'lines', scale: 'durations', unit: words('units.durations'), format: duration } as const;
    const percentiles = [
      line('p50Ms', 'accent', duration),
      line('p95Ms', 'violet', duration, { dash: '5 4' }),
      line('p99Ms', 'amber', duration, { dash: '2 3' }),
    ];
    const flow = [line('createdPerMinute', 'blue', rate, { dash: '5 4' }), line('publishedPerMinute', 'green', rate)];
    const failures = [line('retriesPerMinute', 'amber', rate), line('errorsPerMinute', 'red', rate, { dash: '5 3' })];
    return [
      {
        id: 'depth',
        of: 'waiting',
        panes: [
          { ...events, lines: [line('waiting', 'blue', count, { filled: true })] },
          { ...ages, lines: [line('oldestAgeMs', 'amber', age, { dash: '5 3' })] },
        ],
      },
      { id: 'flow', of: 'published', panes: [{ ...events, unit: words('units.perMinute'), format: rate, lines: flow }] },
      {
        id: 'latency',
        of: 'latency',
        panes: [
          { ...durations, band: { low: 'p50Ms', high: 'p99Ms', hue: 'violet' }, lines: percentiles },
          { kind: 'bars', unit: perStep, format: count, lines: [line('latencyCount', 'grey', count, { barred: true })] },
        ],
      },
      { id: 'heat', of: 'latency', panes: [{ kind: 'heat', unit: words('units.heat'), format: duration, boundsMs, rowName, lines: [] }] },
      { id: 'failures', of: 'errors', panes: [{ ...events, unit: words('units.attempts'), format: rate, lines: failures }] },
      { id: 'dead', of: 'dead', panes: [{ ...events, lines: [line('dead', 'red', count, { filled: true })] }] },
    ];
  }, [words, format, stepSeconds, bounds]);
}
