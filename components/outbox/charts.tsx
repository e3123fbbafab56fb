import { useCallback, useMemo, useTransition, type ReactNode } from 'react';
import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { Button, Pill, Title } from '@mantine/core';
import { IconDownload, IconZoomReset } from '@tabler/icons-react';
import { shortIso, withChartView, type ChartView, seriesQuery } from '@/lib/shared/figures/chart-view';
import type { Mark } from '@/lib/shared/figures/marks';
import type { Series } from '@/lib/shared/model';
import { ratedPoints } from '@/lib/shared/figures/series-rates';
import { ChartCursorProvider, MarkToolsProvider, type TakeOff } from '../charts/chart-parts';
import { timeSpan, type TimeSpan } from '../charts/chart-model';
import { useFormat } from '../figures/use-format';
import { ChartPanel } from './chart-panel';
import { useChartSpecs } from './use-chart-specs';
import { SpanEditor } from './chart-editors';
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

interface ChartBarProps {
  outbox: string;
  view: ChartView;
  span: TimeSpan;
  onChange: (view: Pick<ChartView, 'span' | 'type'>) => void;
  /** Further tools. */
  children: ReactNode;
}

/** Which time and type the charts show, how to choose another, and the numbers to take along. */
function ChartBar({ outbox, view, span, onChange, children }: ChartBarProps) {
  const words = useTranslations('outbox.charts');
  const windows = useTranslations('frame.windows');
  const format = useFormat();
  const { window, type } = view;
  const own = !('window' in view.span);
  const step = format.age(span.stepMs);
  const csv = `/api/v1/outboxes/${encodeURIComponent(outbox)}/series?${seriesQuery(view)}&format=csv`;
  return (
    <div className={classes.bar}>
      <Title order={2} id="history">
        {words('title')}
      </Title>
      <p>
        {'window' in view.span
          ? words('ofWindow', { window: windows(view.span.window), step })
          : words('ofSpan', { from: format.absolute(view.span.from).slice(0, 16), to: format.absolute(view.span.to).slice(0, 16), step })}
      </p>
      <div className={classes.tools}>
        {type !== undefined && (
          <Pill
            withRemoveButton
            onRemove={() => onChange({ span: view.span })}
            removeButtonProps={{ 'aria-label': words('allTypes'), 'aria-hidden': false, tabIndex: 0 }}
          >
            {words('ofType', { type })}
          </Pill>
        )}
        {own && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconZoomReset size={14} aria-hidden />}
            onClick={() => onChange({ span: { window }, type })}
          >
            {words('resetZoom')}
          </Button>
        )}
        <SpanEditor key={`${span.from} ${own}`} span={span} onApply={(chosen) => onChange({ span: chosen, type })} />
        {children}
        <Button component="a" href={csv} download size="compact-sm" variant="default" leftSection={<IconDownload size={14} aria-hidden />}>
          {words('csv')}
        </Button>
      </div>
    </div>
  );
}
