import { memo, useMemo } from 'react';
import { useTranslations } from 'next-intl';
import { INSET, tenth, type HeatPane, type PaneProps } from './chart-model';
import classes from './charts.module.css';

/** Shades of one hue, by how many events a cell holds; each is a path of many cells, so that a chart is a few elements. */
const SHADES = 6;

/** Events by time and duration: the darker, the more. Each bound has its line, the row above the last bound is what took longer. */
export const HeatPaneChart = memo(function HeatPaneChart({ pane, span, width, height, axis }: PaneProps<HeatPane>) {
  const words = useTranslations('outbox.charts');
  const { boundsMs, format } = pane;
  const { points, from, to } = span;
  const plot = { width: width - INSET.left - INSET.right, height: height - INSET.top - INSET.bottom };
  const used = useMemo(() => usedRows(points.map(({ heat }) => heat)), [points]);
  const rows = used[1] - used[0];
  const rowHeight = plot.height / rows;
  const most = Math.max(1, ...points.flatMap(({ heat }) => heat ?? []));
  const bottom = INSET.top + plot.height;
  const paths = useMemo(() => {
    const cells: string[][] = Array.from({ length: SHADES }, () => []);
    const step = plot.width / points.length;
    points.forEach(({ heat }, index) => {
      heat?.forEach((count, row) => {
        if (count === 0) return;
        const y = bottom - (row - used[0] + 1) * rowHeight;
        const wide = tenth(Math.max(1, step - 0.5));
        cells[shadeOf(count, most)]?.push(`M${tenth(INSET.left + index * step)} ${tenth(y)}h${wide}v${tenth(rowHeight - 1)}h-${wide}z`);
      });
    });
    return cells.map((shade) => shade.join(''));
  }, [points, plot.width, bottom, rowHeight, used, most]);
  return (
    <>
      <svg width={width} height={height} className={classes.heat}>
        {boundsMs.slice(used[0], used[1]).map((bound, index) => {
          const y = bottom - (index + 1) * rowHeight;
          // Where rows are narrow, every second bound is named.
          const named = rowHeight >= 14 || index % Math.ceil(14 / rowHeight) === 0;
          return (
            <g key={bound}>
              <path d={`M${INSET.left} ${y}H${width - INSET.right}`} stroke="var(--oc-line)" strokeOpacity={named ? 1 : 0.5} />
              {named && index + 1 < rows && (
                <text x={INSET.left - 8} y={y} dy="0.35em" textAnchor="end">
                  {format(bound)}
                </text>
              )}
            </g>
          );
        })}
        {paths.map((d, shade) => (
          <path key={shade} d={d} fill="var(--oc-accent)" fillOpacity={(shade + 1) / SHADES} />
        ))}
        <path d={`M${INSET.left} ${bottom}H${width - INSET.right}`} stroke="var(--oc-line)" />
        {axis.ticks.map((at) => (
          <text key={at} x={INSET.left + ((at - from) / (to - from)) * plot.width} y={bottom + 16} textAnchor="middle">
            {axis.tickText(at)}
          </text>
        ))}
      </svg>
      <p className={classes.heatScale} style={{ right: INSET.right }}>
        {words('heatScale', { most })}
        <span aria-hidden>
          {Array.from({ length: SHADES }, (_, shade) => (
            <i key={shade} style={{ opacity: (shade + 1) / SHADES }} />
          ))}
        </span>
      </p>
    </>
  );
});

/** A few events must be seen beside thousands: shades go by the logarithm. */
function shadeOf(count: number, most: number): number {
  return Math.min(SHADES - 1, Math.floor((Math.log(count + 1) / Math.log(most + 1)) * SHADES));
}

/** The rows to show: those that hold events, and one on either side where there is one. */
function usedRows(heats: (number[] | null)[]): [number, number] {
  const length = heats.find((heat) => heat !== null)?.length ?? 1;
  const filled = Array.from({ length }, (_, row) => row).filter((row) => heats.some((heat) => (heat?.[row] ?? 0) > 0));
  return [Math.max(0, (filled[0] ?? 0) - 1), Math.min(length, (filled.at(-1) ?? length - 1) + 2)];
}
