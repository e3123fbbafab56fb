'use client';

import { useState } from 'react';
import { useTranslations } from 'next-intl';
import type { Mark } from '@/lib/shared/figures/marks';
import type { RatedPoint } from '@/lib/shared/figures/series-rates';
import type { Pane, TimeSpan } from '../charts/chart-model';
import { useFormat } from '../figures/use-format';
import classes from './charts.module.css';

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
export function ChartTable({ title, panes, span, marks }: ChartTableProps) {
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
