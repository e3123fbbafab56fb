import { Anchor } from '@mantine/core';
import { IconAlertTriangle, IconHandClick, IconNote, IconPlayerPlay, IconRocket, IconTrash, type TablerIcon } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { type CSSProperties, type KeyboardEvent, memo, type PointerEvent, useContext, useId } from 'react';
import type { ChartMark, Mark } from '@/lib/shared/figures/marks';
import type { RatedPoint } from '@/lib/shared/figures/series-rates';
import { visibleText } from '@/lib/shared/text/visible-text';
import { type Format, useFormat } from '../figures/format';
import { Float, useFloat } from '../frame/float';
import { PlainLink } from '../frame/go';
import { TextButton } from '../frame/controls';
import { useChange } from '../frame/use-change';
import { actionHref, runHref } from '../hrefs';
import { type ChartLine, type ChartProps, type DragSelection, type HeatPane, INSET, isReadLeft, runsOf, selectedSpan } from './chart-model';
import { LineSign, lineText, type TakeOff, TakeOffContext, useCursor, useMarkKind, useStepNotes } from './chart-parts';
import classes from './charts.module.css';

/** A shorter drag is a click. */
const DRAG_PX = 6;

/** Reads a chart and selects a span: by pointer, touch and arrow keys. */
export function ChartOverlay({ title, span, panes, marks, width, onZoom }: ChartProps & { width: number }) {
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
        <ChartReading point={point} index={index} width={plotWidth} panes={panes} span={span} marks={marks} />
      )}
    </div>
  );
}

const DAY_MS = 86_400_000;

/** The fixed part of the overlay: steps that were not observed. */
const Standing = memo(function Standing({ span: { points }, width }: Pick<ChartProps, 'span'> & { width: number }) {
  const words = useTranslations('outbox.charts');
  return runsOf(points, ({ gap }) => gap).map(([first, end]) => {
    const share = (end - first) / points.length;
    return (
      <div key={first} className={classes.gap} style={{ left: `${(first / points.length) * 100}%`, width: `${share * 100}%` }} data-gap>
        {share * width > 88 && <span>{words('gap')}</span>}
      </div>
    );
  });
});

function Moving({ span }: Pick<ChartProps, 'span'>) {
  const format = useFormat();
  const { dragged, index } = useCursor(span);
  const { from, to } = span;
  const say = (at: number) => `${to - from > DAY_MS ? `${format.day(at)} ` : ''}${format.minute(at)}`;
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

/** One value of a step: of a line, or of a row of the heat map. */
type ReadValue = { name: string; line: ChartLine | null; text: string | null };

/** Rows of the heat map that are read out for one step: the fullest. */
const HEAT_ROWS_READ = 5;

function readPoint(point: RatedPoint, panes: ChartProps['panes'], count: (value: number) => string): ReadValue[] {
  return panes.flatMap((pane): ReadValue[] =>
    pane.kind === 'heat'
      ? readHeat(point.heat, pane, count)
      : pane.lines.map((line) => ({ name: line.label, line, text: lineText(line, point) })),
  );
}

function readHeat(heat: number[] | null, { rowName }: HeatPane, count: (value: number) => string): ReadValue[] {
  const filled = [...(heat ?? []).entries()].filter(([, events]) => events > 0);
  const fullest = new Set([...filled].sort(([, a], [, b]) => b - a).slice(0, HEAT_ROWS_READ));
  return filled.filter((row) => fullest.has(row)).map(([row, events]) => ({ name: rowName(row), line: null, text: count(events) }));
}

/** Formats one step as text: its time, and the values of the chart's lines. */
function useReadingText(panes: ChartProps['panes'], stepMs: number): (point: RatedPoint) => string {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  return (point) => {
    const values = readPoint(point, panes, format.number).map(({ name, text }) => `${name} ${text ?? words('unknown')}`);
    return [stepText(point, stepMs, format), ...(point.gap ? [words('gapWhy')] : values)].join(', ');
  };
}

/** "Nov 21 14:02 – 14:03"; the date alone for steps of a day. */
function stepText({ at }: RatedPoint, stepMs: number, { day, minute }: Format): string {
  const from = Date.parse(at);
  return stepMs >= DAY_MS ? day(from) : `${day(from)} ${minute(from)} – ${minute(from + stepMs)}`;
}

interface ChartReadingProps extends Pick<ChartProps, 'panes' | 'span' | 'marks'> {
  point: RatedPoint;
  index: number;
  width: number;
}

function ChartReading({ point, index: at, width, panes, span, marks }: ChartReadingProps) {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const { stepMs, points } = span;
  const notes = useStepNotes(marks, stepMs);
  const share = (at + 0.5) / points.length;
  const left = isReadLeft(span, panes[0]?.lines ?? [], at, width);
  const beside = `calc(${(left ? 1 - share : share) * 100}% + 12px)`;
  return (
    <div className={classes.reading} data-reading style={left ? { right: beside } : { left: beside }} aria-hidden>
      <p>{stepText(point, stepMs, format)}</p>
      {point.gap ? (
        <p className={classes.note}>{words('gapWhy')}</p>
      ) : (
        <dl>
          {readPoint(point, panes, format.number).map(({ name, line, text }) => (
            <div key={name}>
              <dt>
                {line && <LineSign line={line} />}
                {name}
              </dt>
              <dd>{text ?? words('unknown')}</dd>
            </div>
          ))}
        </dl>
      )}
      {notes(point).map((note, index) => (
        <p key={index} className={classes.note}>
          {note}
        </p>
      ))}
    </div>
  );
}

const SIGNS: Record<ChartMark['kind'], TablerIcon> = {
  deploy: IconRocket,
  incident: IconAlertTriangle,
  note: IconNote,
  action: IconHandClick,
  run: IconPlayerPlay,
};

/** The flag of a mark: a tooltip on hover, touch and focus; on click its link, and a button to take it off. */
function MarkFlag({ mark, style }: { mark: ChartMark; style: CSSProperties }) {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const takeOff = useContext(TakeOffContext);
  const { button, float } = useFloat();
  const { kind, text, at, actor, url } = mark;
  const label = words('mark', { kind: useMarkKind()(mark), text, at: format.absolute(at), actor });
  const Sign = SIGNS[kind];
  const flag = {
    className: classes.flag,
    style,
    'aria-label': label,
    'data-tip': float === null ? label : undefined,
    children: <Sign size={12} stroke={2} aria-hidden />,
  };
  if (mark.kind === 'action' || mark.kind === 'run')
    return <PlainLink href={mark.kind === 'run' ? runHref(mark.id) : actionHref(mark.id)} {...flag} />;
  if (takeOff === null)
    return url === null ? <button type="button" {...flag} /> : <a href={url} target="_blank" rel="noreferrer" {...flag} />;
  return (
    <>
      <button type="button" {...flag} {...button} />
      {float && (
        <Float {...float} label={label} side="middle" width={280}>
          <MarkDetails mark={mark} takeOff={takeOff} />
        </Float>
      )}
    </>
  );
}

function MarkDetails({ mark: { id, kind, text, at, actor, url, outbox }, takeOff }: { mark: Mark; takeOff: TakeOff }) {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const { send, sending, problemText } = useChange(takeOff.action, { onDone: takeOff.onDone, onGone: takeOff.onDone });
  return (
    <div className={classes.markDetails}>
      <strong>
        <bdi>{visibleText(text)}</bdi>
      </strong>
      <p>{words('markFacts', { kind: words(`marks.${kind}`), at: format.absolute(at), actor })}</p>
      {outbox === null && <p>{words('markOfAll')}</p>}
      {url !== null && (
        <Anchor href={url} target="_blank" rel="noreferrer" size="xs">
          <bdi>{url}</bdi>
        </Anchor>
      )}
      {problemText !== null && <p role="alert">{problemText}</p>}
      <TextButton
        size="compact-xs"
        variant="default"
        icon={IconTrash}
        loading={sending}
        onClick={() => send(id)}
        label={words('takeOff')}
      />
    </div>
  );
}

const FLAG_PX = 21;
/** More of them cover each other. */
const FLAG_ROWS = 4;

/** Flags of marks that are close to each other go below each other. */
function flagRows(places: readonly number[]): number[] {
  const rows: number[] = [];
  places.forEach((at, index) => {
    const near = at - (places[index - 1] ?? -Infinity) < FLAG_PX;
    rows.push(near ? ((rows[index - 1] ?? 0) + 1) % FLAG_ROWS : 0);
  });
  return rows;
}

/** Deploys, incidents and notes as lines across a plot of `width` pixels. */
const ChartMarks = memo(function ChartMarks({ marks, span, width }: Pick<ChartProps, 'marks' | 'span'> & { width: number }) {
  const { from, to } = span;
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
