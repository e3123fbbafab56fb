import { memo, useId, useState } from 'react';
import dynamic from 'next/dynamic';
import { Skeleton, Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { Mark } from '@/lib/shared/figures/marks';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import type { RatedPoint } from '@/lib/shared/figures/series-rates';
import { CHART_HEIGHT, type ChartLine, type Pane, type TimeSpan } from '../charts/chart-model';
import { LineSign } from '../charts/chart-parts';
import { Figure } from '../figures/figure';
import { useFormat } from '../figures/use-format';
import classes from './charts.module.css';
import screen from './outbox.module.css';

/** The chart library comes after first paint, into a space already kept for it. */
const ChartFrame = dynamic(() => import('../charts/chart-frame').then(({ ChartFrame: loaded }) => loaded), {
  ssr: false,
  loading: () => <Skeleton height={CHART_HEIGHT} radius="sm" animate={false} />,
});

interface ChartPanelProps {
  title: string;
  /** Why there is nothing to draw; undefined where something may be. */
  why: UnavailableReason | undefined;
  panes: Pane[];
  span: TimeSpan;
  marks: readonly Mark[];
  onZoom: (from: number, to: number) => void;
}

/** A chart with its name, what its lines are, and the same numbers as a table for those who cannot see it. */
export const ChartPanel = memo(function ChartPanel({ title, why, panes, span, marks, onZoom }: ChartPanelProps) {
  const words = useTranslations('outbox.charts');
  const id = useId();
  const lines = panes.flatMap((pane) => pane.lines as ChartLine[]);
  const isEmpty = ({ key }: ChartLine) => span.points.every((point) => point[key] === null);
  const heatKnown = panes.some(({ kind }) => kind === 'heat') && span.points.some(({ heat }) => heat !== null);
  const empty = lines.every(isEmpty) && !heatKnown;
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
                {line.label} {/* Lines are missing together: once is enough. */}
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
          <ChartFrame title={title} span={span} panes={panes} marks={marks} onZoom={onZoom} />
        </div>
      )}
      {!empty && <ChartTable title={title} panes={panes} span={span} marks={marks} />}
    </section>
  );
});

/** Of a chart of which something is known. */
const whyEmpty = ({ key }: ChartLine): UnavailableReason => (key === 'oldestAgeMs' ? 'not_watched' : 'no_events');

interface ChartTableProps {
  title: string;
  panes: Pane[];
  span: TimeSpan;
  marks: readonly Mark[];
}

interface Column {
  head: string;
  /** null where it is not known. */
  text: (point: RatedPoint) => string | null;
}

/** The points of a chart as rows, newest first, made when they are asked for. */
function ChartTable({ title, panes, span, marks }: ChartTableProps) {
  const words = useTranslations('outbox.charts');
  const [open, setOpen] = useState(false);
  return (
    <details className={classes.asTable} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {words('asTable')} <span className={classes.hidden}>{title}</span>
      </summary>
      {open && (
        <div className={classes.tableScroll} role="region" aria-label={words('tableOf', { title })} tabIndex={0}>
          <Rows panes={panes} span={span} marks={marks} />
        </div>
      )}
    </details>
  );
}

function Rows({ panes, span: { points, stepMs }, marks }: Omit<ChartTableProps, 'title'>) {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const columns = panes.flatMap((pane): Column[] =>
    pane.kind === 'heat'
      ? [...pane.boundsMs, Infinity].map((_, row) => ({
          head: `${pane.rowName(row)}, ${words('units.events')}`,
          text: ({ heat }) => (heat === null ? null : format.number(heat[row] ?? 0)),
        }))
      : pane.lines.map(({ key, label, format: say }) => ({
          head: `${label}, ${pane.unit}`,
          text: (point) => (point[key] === null ? null : say(point[key])),
        })),
  );
  const notes = ({ at, gap, underWay, provisional }: RatedPoint): string[] => [
    ...(gap ? [words('gap')] : underWay ? [words('underWay')] : provisional ? [words('provisional')] : []),
    ...marks
      .filter((mark) => Date.parse(mark.at) >= Date.parse(at) && Date.parse(mark.at) < Date.parse(at) + stepMs)
      .map(({ kind, text }) => `${words(`marks.${kind}`)}: ${text}`),
  ];
  return (
    <table className={classes.numbers}>
      <thead>
        <tr>
          <th scope="col">{words('time', { zone: format.timeZone })}</th>
          {columns.map(({ head }) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
          <th scope="col">{words('notes')}</th>
        </tr>
      </thead>
      <tbody>
        {points.toReversed().map((point) => (
          <tr key={point.at} data-at={point.at}>
            <th scope="row">{format.absolute(point.at).slice(0, 16)}</th>
            {columns.map(({ head, text }) => (
              <td key={head}>{text(point) ?? words('unknown')}</td>
            ))}
            <td>{notes(point).join(', ')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
