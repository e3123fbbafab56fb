import { useMemo } from 'react';
import { useTranslations } from 'next-intl';
import type { Series, SeriesLine } from '@/lib/shared/model';
import type { ChartLine, Pane } from '../charts/chart-model';
import { useFormat } from '../figures/use-format';

interface ChartSpec {
  id: 'depth' | 'flow' | 'latency' | 'heat' | 'failures' | 'dead';
  /** The lines by which it is known. */
  of: SeriesLine;
  panes: Pane[];
}

/** The charts of an outbox, in the order they are shown; the same until the step or the language changes. */
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
    return [
      {
        id: 'depth',
        of: 'waiting',
        panes: [
          { ...events, lines: [line('waiting', 'blue', count, { filled: true })] },
          {
            kind: 'lines',
            scale: 'ages',
            unit: words('units.oldest'),
            format: age,
            lines: [line('oldestAgeMs', 'amber', age, { dash: '5 3' })],
          },
        ],
      },
      {
        id: 'flow',
        of: 'published',
        panes: [
          {
            ...events,
            unit: words('units.perMinute'),
            format: rate,
            lines: [line('createdPerMinute', 'blue', rate, { dash: '5 4' }), line('publishedPerMinute', 'green', rate)],
          },
        ],
      },
      {
        id: 'latency',
        of: 'latency',
        panes: [
          {
            kind: 'lines',
            scale: 'durations',
            unit: words('units.durations'),
            format: duration,
            band: { low: 'p50Ms', high: 'p99Ms', hue: 'violet' },
            lines: [
              line('p50Ms', 'accent', duration),
              line('p95Ms', 'violet', duration, { dash: '5 4' }),
              line('p99Ms', 'amber', duration, { dash: '2 3' }),
            ],
          },
          { kind: 'bars', unit: perStep, format: count, lines: [line('latencyCount', 'grey', count, { barred: true })] },
        ],
      },
      {
        id: 'heat',
        of: 'latency',
        panes: [{ kind: 'heat', unit: words('units.heat'), format: duration, boundsMs, rowName, lines: [] }],
      },
      {
        id: 'failures',
        of: 'errors',
        panes: [
          {
            ...events,
            unit: words('units.attempts', { step }),
            lines: [line('retries', 'amber', count), line('errors', 'red', count, { dash: '5 3' })],
          },
        ],
      },
      { id: 'dead', of: 'dead', panes: [{ ...events, lines: [line('dead', 'red', count, { filled: true })] }] },
    ];
  }, [words, format, stepSeconds, bounds]);
}
