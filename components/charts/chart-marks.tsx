'use client';

import type { ComponentType } from 'react';
import { Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconNote, IconRocket, type IconProps } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useFormat } from '../figures/use-format';
import type { ChartMark, TimeSpan } from './chart-model';
import classes from './charts.module.css';

const SIGNS: Record<ChartMark['kind'], ComponentType<IconProps>> = { deploy: IconRocket, incident: IconAlertTriangle, note: IconNote };

/** Deploys, incidents and notes as lines across a chart; what each was shows on hover, on touch and when the keyboard comes by. */
export function ChartMarks({ marks, span: { from, to } }: { marks: readonly ChartMark[]; span: TimeSpan }) {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const shown = marks.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) < to);
  return shown.map(({ id, at, kind, text, url, actor }) => {
    const Sign = SIGNS[kind];
    const label = words('mark', { kind: words(`marks.${kind}`), text, at: format.absolute(at), actor: actor ?? 'none' });
    const flag = { className: classes.flag, 'aria-label': label, children: <Sign size={12} stroke={2} aria-hidden /> };
    return (
      <div key={id} className={classes.chartMark} data-kind={kind} style={{ left: `${((Date.parse(at) - from) / (to - from)) * 100}%` }}>
        <Tooltip label={label} events={{ hover: true, focus: true, touch: true }} multiline maw={320} withArrow>
          {url === null ? <button type="button" {...flag} /> : <a href={url} target="_blank" rel="noreferrer" {...flag} />}
        </Tooltip>
      </div>
    );
  });
}
