'use client';

import { useMemo } from 'react';
import dynamic from 'next/dynamic';
import { Skeleton } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { Series } from '@/lib/shared/model';
import { CHART_HEIGHT, type ChartLine } from '../charts/chart-model';
import { useFormat } from '../figures/use-format';
import { ChartPanel } from './chart-panel';
import classes from './outbox.module.css';

/** The chart library comes after first paint, into a space already kept for it. */
const TimeChart = dynamic(() => import('../charts/time-chart').then(({ TimeChart: loaded }) => loaded), {
  ssr: false,
  loading: () => <Skeleton height={CHART_HEIGHT} radius="sm" animate={false} />,
});

/** Depth, flow, latency and dead letters on one time axis with one cursor. */
export function Charts({ series }: { series: Series }) {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const count = (value: number) => format.number(value);
  const perMinute = 60 / series.stepSeconds;
  const asOf = Date.parse(series.asOf);
  // The table counts events per step; per minute they can be compared across windows and with the tiles.
  const points = useMemo(
    () =>
      series.points.map((point) => {
        // A step still under way has fewer events than it will have: drawn, it would look like a fall.
        const over = Date.parse(point.at) + series.stepSeconds * 1_000 <= asOf;
        const rate = (value: number | null) => (value === null || !over ? null : value * perMinute);
        return { ...point, created: rate(point.created), published: rate(point.published), count: point.published };
      }),
    [series.points, series.stepSeconds, asOf, perMinute],
  );
  const line = (key: ChartLine['key'], hue: ChartLine['hue'], dash?: string): ChartLine => ({
    key,
    label: words(`lines.${key}`),
    hue,
    dash,
  });
  const panel = { points, stepSeconds: series.stepSeconds };
  return (
    <div className={classes.charts}>
      <ChartPanel
        {...panel}
        chart={TimeChart}
        title={words('depth')}
        unit={words('units.events')}
        format={count}
        known={series.known.waiting}
        lines={[line('waiting', 'blue')]}
      />
      <ChartPanel
        {...panel}
        chart={TimeChart}
        title={words('flow')}
        unit={words('units.perMinute')}
        format={format.rate}
        known={series.known.published}
        lines={[line('created', 'blue', '5 4'), line('published', 'green')]}
      />
      <ChartPanel
        {...panel}
        chart={TimeChart}
        title={words('latency')}
        unit={words('units.time')}
        format={format.latency}
        known={series.known.latency}
        lines={[line('p50Ms', 'accent'), line('p95Ms', 'violet', '5 4'), line('p99Ms', 'amber', '1 4')]}
        beside={{ label: words('lines.count'), format: count }}
      />
      <ChartPanel
        {...panel}
        chart={TimeChart}
        title={words('dead')}
        unit={words('units.events')}
        format={count}
        known={series.known.dead}
        lines={[line('dead', 'red')]}
      />
    </div>
  );
}
