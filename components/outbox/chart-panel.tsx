'use client';

import { memo, useId } from 'react';
import dynamic from 'next/dynamic';
import { Skeleton, Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { Mark } from '@/lib/shared/figures/marks';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import { CHART_HEIGHT, type ChartLine, type Pane, type TimeSpan } from '../charts/chart-model';
import { LineSign } from '../charts/line-sign';
import { Figure } from '../figures/figure';
import { ChartTable } from './chart-table';
import classes from './charts.module.css';
import screen from './outbox.module.css';

/** The chart library comes after first paint, into a space already kept for it. */
const ChartFrame = dynamic(() => import('../charts/chart-frame').then(({ ChartFrame: loaded }) => loaded), {
  ssr: false,
  loading: () => <Skeleton height={CHART_HEIGHT} radius="sm" animate={false} />,
});

export interface ChartPanelProps {
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
