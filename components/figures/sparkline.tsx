'use client';

import { memo } from 'react';
import { useTranslations } from 'next-intl';
import { sparklineShape } from './sparkline-path';
import { useFormat } from './use-format';
import classes from './figures.module.css';

const WIDTH = 120;
const HEIGHT = 24;

interface SparklineProps {
  /** Oldest first. */
  values: readonly (number | null)[];
  /** How many values there are; what `values` has less is unknown, and at its beginning. */
  points?: number;
  /** Says in words what the line shows; by default thirty minutes of depth. */
  say?: (figures: { last: string; low: string; high: string }) => string;
}

/** Values over time as a line; gaps are gaps, and the label says in words what the line shows. */
export const Sparkline = memo(function Sparkline({ values, points = values.length, say }: SparklineProps) {
  const words = useTranslations('figures');
  const format = useFormat();
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return <span className={classes.absent}>{words('sparklineEmpty')}</span>;
  const shape = sparklineShape([...Array.from({ length: points - values.length }, () => null), ...values], WIDTH, HEIGHT);
  const figures = {
    last: format.number(known.at(-1) ?? 0),
    low: format.number(Math.min(...known)),
    high: format.number(Math.max(...known)),
  };
  const label = say === undefined ? words('sparkline', figures) : say(figures);
  return (
    <svg
      className={classes.sparkline}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path className={classes.base} d={`M0 ${HEIGHT}H${WIDTH}`} />
      {shape.grounds.map((d) => (
        <path key={d} className={classes.ground} d={d} />
      ))}
      {shape.lines.map((d) => (
        <path key={d} d={d} />
      ))}
      {shape.dots.map(({ x, y }) => (
        <path key={x} className={classes.dot} d={`M${x} ${y}h0`} />
      ))}
    </svg>
  );
});
