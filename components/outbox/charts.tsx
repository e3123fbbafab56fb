'use client';

import { useCallback, useMemo, useTransition, type ReactNode } from 'react';
import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { shortIso, withChartView, type ChartView } from '@/lib/shared/figures/chart-view';
import type { Mark } from '@/lib/shared/figures/marks';
import type { Series } from '@/lib/shared/model';
import { ratedPoints } from '@/lib/shared/figures/series-rates';
import { ChartCursorProvider } from '../charts/chart-cursor';
import { timeSpan } from '../charts/chart-model';
import { MarkToolsProvider, type TakeOff } from '../charts/mark-tools';
import { ChartBar } from './chart-bar';
import { ChartPanel } from './chart-panel';
import { useChartSpecs } from './use-chart-specs';
import classes from './charts.module.css';

interface ChartsProps {
  outbox: string;
  view: ChartView;
  series: Series;
  marks: readonly Mark[];
  /** Takes a mark off; null for who may not. */
  takeOff: TakeOff | null;
  /** Puts a mark on; null for who may not. */
  markEditor: ReactNode;
  /** How the history comes about. */
  children: ReactNode;
}

/** How it came about: depth, flow, latency, failures and dead letters on one time axis, with one cursor and one selection. */
export function Charts({ outbox, view, series, marks, takeOff, markEditor, children }: ChartsProps) {
  const words = useTranslations('outbox.charts');
  const [pending, change] = useViewChange();
  const { points, stepSeconds, asOf } = series;
  const span = useMemo(() => timeSpan(ratedPoints({ points, stepSeconds, asOf }), stepSeconds), [points, stepSeconds, asOf]);
  const specs = useChartSpecs(series);
  const { type } = view;
  const zoom = useCallback(
    (from: number, to: number) => change({ span: { from: shortIso(from), to: shortIso(to) }, type }),
    [change, type],
  );
  return (
    <section className={classes.history} aria-labelledby="history">
      <ChartBar outbox={outbox} view={view} span={span} onChange={change}>
        {markEditor}
      </ChartBar>
      {children}
      <MarkToolsProvider value={takeOff}>
        <ChartCursorProvider>
          <div className={classes.charts} aria-busy={pending}>
            {specs.map(({ id, of, panes }) => (
              <ChartPanel key={id} title={words(id)} why={series.why[of]} panes={panes} span={span} marks={marks} onZoom={zoom} />
            ))}
          </div>
        </ChartCursorProvider>
      </MarkToolsProvider>
    </section>
  );
}

/** Goes to another span or type: by its address, so that a link shows the same and going back takes it back. */
function useViewChange(): [boolean, (view: Pick<ChartView, 'span' | 'type'>) => void] {
  const router = useRouter();
  const pathname = usePathname();
  const search = useSearchParams();
  const [pending, startTransition] = useTransition();
  const change = useCallback(
    (view: Pick<ChartView, 'span' | 'type'>) => {
      startTransition(() => router.push(`${pathname}?${withChartView(new URLSearchParams(search), view)}`, { scroll: false }));
    },
    [router, pathname, search],
  );
  return [pending, change];
}
