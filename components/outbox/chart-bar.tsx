'use client';

import type { ReactNode } from 'react';
import { Button, Pill, Title } from '@mantine/core';
import { IconDownload, IconZoomReset } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { seriesQuery, type ChartView } from '@/lib/shared/figures/chart-view';
import type { TimeSpan } from '../charts/chart-model';
import { useFormat } from '../figures/use-format';
import { SpanEditor } from './span-editor';
import classes from './charts.module.css';

interface ChartBarProps {
  outbox: string;
  view: ChartView;
  span: TimeSpan;
  onChange: (view: Pick<ChartView, 'span' | 'type'>) => void;
  /** Further tools. */
  children: ReactNode;
}

/** Which time and type the charts show, how to choose another, and the numbers to take along. */
export function ChartBar({ outbox, view, span, onChange, children }: ChartBarProps) {
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
