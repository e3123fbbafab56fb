'use client';

import { memo } from 'react';
import type { Mark } from '@/lib/shared/figures/marks';
import type { TimeSpan } from './chart-model';
import { MarkFlag } from './mark-flag';
import classes from './charts.module.css';

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

/** Deploys, incidents and notes as lines across a chart. */
export const ChartMarks = memo(function ChartMarks({ marks, span: { from, to }, width }: ChartMarksProps) {
  const places = marks
    .map((mark) => ({ mark, share: (Date.parse(mark.at) - from) / (to - from) }))
    .filter(({ share }) => share >= 0 && share < 1)
    .sort((a, b) => a.share - b.share);
  const rows = flagRows(places.map(({ share }) => share * width));
  return places.map(({ mark, share }, index) => (
    <div key={mark.id} className={classes.chartMark} data-kind={mark.kind} style={{ left: `${share * 100}%` }}>
      <MarkFlag mark={mark} style={{ top: (rows[index] ?? 0) * FLAG_PX }} />
    </div>
  ));
});
