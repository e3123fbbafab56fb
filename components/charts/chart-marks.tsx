'use client';

import { memo, type ComponentType } from 'react';
import { Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconNote, IconRocket, type IconProps } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { Mark } from '@/lib/shared/marks';
import { useFormat } from '../figures/use-format';
import type { TimeSpan } from './chart-model';
import classes from './charts.module.css';

const SIGNS: Record<Mark['kind'], ComponentType<IconProps>> = { deploy: IconRocket, incident: IconAlertTriangle, note: IconNote };

const FLAG_PX = 21;

/** Marks close to each other have their flags below each other. */
function flagRows(places: readonly number[]): number[] {
  const rows: number[] = [];
  places.forEach((at, index) => {
    const near = at - (places[index - 1] ?? -Infinity) < FLAG_PX;
    rows.push(near ? (rows[index - 1] ?? 0) + 1 : 0);
  });
  return rows;
}

interface ChartMarksProps {
  marks: readonly Mark[];
  span: TimeSpan;
  /** Of the plot, in pixels. */
  width: number;
}

/** Deploys, incidents and notes as lines across a chart; what each was shows on hover, on touch and when the keyboard comes by. */
export const ChartMarks = memo(function ChartMarks({ marks, span: { from, to }, width }: ChartMarksProps) {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const places = marks
    .map((mark) => ({ mark, share: (Date.parse(mark.at) - from) / (to - from) }))
    .filter(({ share }) => share >= 0 && share < 1)
    .sort((a, b) => a.share - b.share);
  const rows = flagRows(places.map(({ share }) => share * width));
  return places.map(({ mark: { id, at, kind, text, url, actor }, share }, index) => {
    const Sign = SIGNS[kind];
    const label = words('mark', { kind: words(`marks.${kind}`), text, at: format.absolute(at), actor });
    const flag = {
      className: classes.flag,
      style: { top: (rows[index] ?? 0) * FLAG_PX },
      'aria-label': label,
      children: <Sign size={12} stroke={2} aria-hidden />,
    };
    return (
      <div key={id} className={classes.chartMark} data-kind={kind} style={{ left: `${share * 100}%` }}>
        <Tooltip label={label} events={{ hover: true, focus: true, touch: true }} multiline maw={320} withArrow>
          {url === null ? <button type="button" {...flag} /> : <a href={url} target="_blank" rel="noreferrer" {...flag} />}
        </Tooltip>
      </div>
    );
  });
});
