'use client';

import { useId, useState, type ComponentType } from 'react';
import { Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { Known } from '@/lib/shared/measured';
import { CHART_HEIGHT, type ChartLine, type TimeChartProps } from '../charts/chart-model';
import { Figure } from '../figures/figure';
import { useFormat } from '../figures/use-format';
import classes from './outbox.module.css';

export interface ChartPanelProps extends Omit<TimeChartProps, 'label'> {
  title: string;
  known: Known;
  chart: ComponentType<TimeChartProps>;
}

/** A chart with its name, what its lines are, and the same numbers as a table for those who cannot see it. */
export function ChartPanel({ title, known, chart: Chart, ...chart }: ChartPanelProps) {
  const words = useTranslations('outbox.charts');
  const id = useId();
  const isEmpty = ({ key }: ChartLine) => chart.points.every((point) => point[key] === null);
  const empty = chart.lines.every(isEmpty);
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <div className={classes.panelHead}>
        <Title order={2} id={id}>
          {title}
        </Title>
        {chart.lines.length > 1 && !empty && (
          <ul className={classes.legend}>
            {chart.lines.map((line) => (
              <li key={line.key}>
                <svg width={20} height={8} aria-hidden data-hue={line.hue}>
                  <path d="M1 4H19" strokeDasharray={line.dash} />
                </svg>
                {line.label} {isEmpty(line) && <Figure text={null} why={known === 'unavailable' ? 'not_in_schema' : 'no_events'} />}
              </li>
            ))}
          </ul>
        )}
      </div>
      {empty ? (
        <div className={classes.noChart} style={{ height: CHART_HEIGHT }}>
          {known === 'unavailable' ? <Figure text={null} known="unavailable" /> : words('empty')}
        </div>
      ) : (
        <div style={{ height: CHART_HEIGHT }}>
          <Chart {...chart} label={title} />
        </div>
      )}
      {!empty && <ChartTable {...chart} title={title} />}
    </section>
  );
}

/** The points of a chart as rows, made when they are asked for. */
function ChartTable({ title, points, lines, beside, format: say, unit }: Omit<TimeChartProps, 'label'> & { title: string }) {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const [open, setOpen] = useState(false);
  return (
    <details className={classes.asTable} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {words('asTable')} <span className={classes.hidden}>{title}</span>
      </summary>
      {open && (
        <div className={classes.tableScroll} role="region" aria-label={words('tableOf', { title })} tabIndex={0}>
          <table className={classes.types}>
            <thead>
              <tr>
                <th scope="col">{words('time', { zone: format.timeZone })}</th>
                {lines.map(({ key, label }) => (
                  <th key={key} scope="col">
                    {label}, {unit}
                  </th>
                ))}
                {beside && <th scope="col">{beside.label}</th>}
              </tr>
            </thead>
            <tbody>
              {points.toReversed().map((point) => (
                <tr key={point.at}>
                  <th scope="row">{format.absolute(point.at).slice(0, 19)}</th>
                  {lines.map(({ key }) => {
                    const value = point[key];
                    return <td key={key}>{value === null ? words('unknown') : say(value)}</td>;
                  })}
                  {beside && <td>{point.count === null ? words('unknown') : beside.format(point.count)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
