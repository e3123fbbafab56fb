import { memo, useId, useMemo, type KeyboardEvent, type PointerEvent } from 'react';
import { useTranslations } from 'next-intl';
import type { Mark } from '@/lib/shared/figures/marks';
import { useFormat } from '../figures/use-format';
import { useCursor } from './chart-parts';
import { INSET, runsOf, selectedSpan, type DragSelection, type Pane, type TimeSpan } from './chart-model';
import { ChartMarks } from './chart-marks';
import { ChartReading, useReadingText } from './chart-reading';
import classes from './charts.module.css';

interface ChartOverlayProps {
  title: string;
  span: TimeSpan;
  panes: Pane[];
  marks: readonly Mark[];
  width: number;
  onZoom: (from: number, to: number) => void;
}

/** A drag of less than this is a click that slipped. */
const DRAG_PX = 6;

/** Where a chart is read and a span selected: by pointer, by touch, and with the arrow keys. */
export function ChartOverlay({ title, span, panes, marks, width, onZoom }: ChartOverlayProps) {
  const words = useTranslations('outbox.charts');
  const { at: cursor, dragged, index, setCursor } = useCursor(span);
  const keysId = useId();
  const { from, to, stepMs, points } = span;
  const plotWidth = width - INSET.left - INSET.right;
  const readingText = useReadingText(panes, stepMs);
  const lastIndex = points.length - 1;
  const point = points[index ?? lastIndex];

  const stepAt = ({ clientX, currentTarget }: PointerEvent<HTMLDivElement>): number => {
    const { left } = currentTarget.getBoundingClientRect();
    const step = Math.floor(((clientX - left) / plotWidth) * points.length);
    return from + Math.min(Math.max(step, 0), lastIndex) * stepMs;
  };
  const clear = () => setCursor({ at: null, dragged: null });
  const zoom = (selection: DragSelection) => {
    const selected = selectedSpan(selection, span);
    clear();
    onZoom(selected.from, selected.to);
  };
  const down = (event: PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0 || !event.isPrimary) return;
    const at = stepAt(event);
    event.currentTarget.setPointerCapture(event.pointerId);
    setCursor({ at, dragged: { anchor: at, at } });
  };
  const move = (event: PointerEvent<HTMLDivElement>) => {
    const at = stepAt(event);
    setCursor({ at, dragged: dragged !== null && event.buttons > 0 ? { ...dragged, at } : null });
  };
  const up = (event: PointerEvent<HTMLDivElement>) => {
    const at = stepAt(event);
    const px = dragged === null ? 0 : (Math.abs(at - dragged.anchor) / (to - from)) * plotWidth;
    if (dragged !== null && px >= DRAG_PX) zoom({ ...dragged, at });
    else setCursor({ at, dragged: null });
  };
  const leave = () => {
    if (dragged === null) clear();
  };

  const key = (event: KeyboardEvent) => {
    const last = from + lastIndex * stepMs;
    const here = cursor ?? last;
    const target = { ArrowLeft: here - stepMs, ArrowRight: here + stepMs, Home: from, End: last }[event.key];
    if (target !== undefined) {
      const at = Math.min(Math.max(target, from), last);
      setCursor({ at, dragged: event.shiftKey ? { anchor: dragged?.anchor ?? here, at } : null });
    } else if (event.key === 'Enter' && dragged !== null) zoom(dragged);
    else if (event.key === 'Escape' && (cursor !== null || dragged !== null)) clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className={classes.overlay} style={{ left: INSET.left, right: INSET.right, top: INSET.top, bottom: INSET.bottom }}>
      <Standing span={span} width={plotWidth} />
      <div
        className={classes.plot}
        role="slider"
        tabIndex={0}
        aria-label={words('read', { title })}
        aria-describedby={keysId}
        aria-valuemin={0}
        aria-valuemax={lastIndex}
        aria-valuenow={index ?? lastIndex}
        aria-valuetext={point === undefined ? '' : readingText(point)}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={clear}
        onPointerLeave={leave}
        onKeyDown={key}
        onBlur={leave}
      />
      <span id={keysId} hidden>
        {words('keys')}
      </span>
      <Moving span={span} />
      <ChartMarks marks={marks} span={span} width={plotWidth} />
      {index !== null && point !== undefined && dragged === null && (
        <ChartReading point={point} share={(index + 0.5) / points.length} panes={panes} span={span} marks={marks} />
      )}
    </div>
  );
}

const DAY_SECONDS = 86_400;
const DAY_MS = DAY_SECONDS * 1_000;

/** What stands on a chart whatever is read: steps that nobody watched, and steps that may still change. */
const Standing = memo(function Standing({ span: { points }, width }: { span: TimeSpan; width: number }) {
  const words = useTranslations('outbox.charts');
  const gaps = useMemo(() => runsOf(points, ({ gap }) => gap), [points]);
  const unsettled = useMemo(() => runsOf(points, ({ provisional, underWay, gap }) => (provisional || underWay) && !gap), [points]);
  const place = ([first, end]: [number, number]) => ({
    left: `${(first / points.length) * 100}%`,
    width: `${((end - first) / points.length) * 100}%`,
  });
  return (
    <>
      {gaps.map((run) => (
        <div key={run[0]} className={classes.gap} style={place(run)} data-gap>
          {((run[1] - run[0]) / points.length) * width > 88 && <span>{words('gap')}</span>}
        </div>
      ))}
      {unsettled.map((run) => (
        <div key={run[0]} className={classes.unsettled} style={place(run)} />
      ))}
    </>
  );
});

/** The shared cursor and the span being selected. */
function Moving({ span }: { span: TimeSpan }) {
  const format = useFormat();
  const { dragged, index } = useCursor(span);
  const { from, to } = span;
  const say = (at: number) => `${to - from > DAY_MS ? `${format.tick(at, 2 * DAY_SECONDS)} ` : ''}${format.tick(at, 0)}`;
  const percent = (at: number) => `${((at - from) / (to - from)) * 100}%`;
  const selected = dragged === null || dragged.anchor === dragged.at ? null : selectedSpan(dragged, span);
  return (
    <>
      {index !== null && <div className={classes.cursor} style={{ left: `${((index + 0.5) / span.points.length) * 100}%` }} />}
      {selected && (
        <div
          className={classes.selection}
          style={{ left: percent(selected.from), right: `${(1 - (selected.to - from) / (to - from)) * 100}%` }}
        >
          <span>
            {say(selected.from)} – {say(selected.to)}
          </span>
        </div>
      )}
    </>
  );
}
