import { memo } from 'react';
import { useTranslations } from 'next-intl';
import { groundPath, linePath, runsOf, tenth } from './chart-model';
import { useFormat } from '../figures/format';
import classes from '../figures/figures.module.css';

/** Zero at the bottom: a path per run of known values; a dot for the last value if known, and for each one alone between gaps. */
export function sparklineShape(values: (number | null)[], width: number, height: number) {
  const top = Math.max(1, ...values.filter((value) => value !== null));
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const runs = runsOf(values, (value) => value !== null).map(([first, end]) =>
    values
      .slice(first, end)
      .map((value, index) => ({ x: tenth((first + index) * step), y: tenth(height - ((value ?? 0) / top) * height) })),
  );
  const long = runs.filter((points) => points.length > 1);
  const ending = (values.at(-1) ?? null) === null ? undefined : runs.at(-1);
  const dots = runs.filter((points) => points.length === 1 || points === ending).flatMap((points) => points.slice(-1));
  return { lines: long.map(linePath), grounds: long.map((points) => groundPath(points, height)), dots };
}

const WIDTH = 120;
const HEIGHT = 24;

interface SparklineProps {
  /** Oldest first. */
  values: readonly (number | null)[];
  /** The number of steps; if `values` has fewer, the missing ones are at its beginning, and unknown. */
  points?: number;
  of?: 'waiting' | 'dead';
  /** The label in words; by default for thirty minutes of depth. */
  say?: (figures: { last: string; low: string; high: string }) => string;
}

/** Values over time as a line; gaps stay gaps, and the label describes the line in words. */
export const Sparkline = memo(function Sparkline({ values, points = values.length, of = 'waiting', say }: SparklineProps) {
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
  const label = say === undefined ? words(of === 'dead' ? 'sparklineDead' : 'sparkline', figures) : say(figures);
  return (
    <svg
      className={classes.sparkline}
      data-of={of}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {of === 'dead' && <title>{label}</title>}
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
