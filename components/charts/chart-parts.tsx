import { useTranslations } from 'next-intl';
import { createContext, useContext, useMemo, useState, type ReactNode } from 'react';
import type { ChartMark, Mark } from '@/lib/shared/figures/marks';
import type { RatedPoint } from '@/lib/shared/figures/series-rates';
import type { ActionResult } from '@/lib/shared/problems';
import { useOperationName } from '../interventions/operations';
import type { TimeSpan, ChartLine, DragSelection } from './chart-model';

interface CursorState {
  /** Start of the step at the cursor, in milliseconds since the epoch; null if there is none. */
  at: number | null;
  dragged: DragSelection | null;
}

const NONE: CursorState = { at: null, dragged: null };

const CursorContext = createContext({ ...NONE, setCursor: (_: CursorState): void => undefined });

/** One cursor and selection for all charts of a screen; moving it renders its readers, never the charts. */
export function ChartCursorProvider({ children }: { children: ReactNode }) {
  const [cursor, setState] = useState(NONE);
  const value = useMemo(() => {
    const setCursor = (next: CursorState) => setState((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next));
    return { ...cursor, setCursor };
  }, [cursor]);
  return <CursorContext value={value}>{children}</CursorContext>;
}

/** The shared cursor, and the index of its step in this span; null if it is outside. */
export function useCursor({ from, to, stepMs }: TimeSpan) {
  const cursor = useContext(CursorContext);
  const { at } = cursor;
  return { ...cursor, index: at === null || at < from || at >= to ? null : Math.floor((at - from) / stepMs) };
}

/** Takes a mark off the charts, then reads the screen again. */
export interface TakeOff {
  action: (mark: string) => Promise<ActionResult<Mark>>;
  onDone: () => Promise<void>;
}

/** null if the viewer may not. */
export const TakeOffContext = createContext<TakeOff | null>(null);

export const lineText = ({ key, format }: ChartLine, { [key]: value }: RatedPoint): string | null =>
  value === null ? null : format(value);

/** What a mark is, in words; of an action what was done, and to how many events. */
export function useMarkKind(): (mark: ChartMark) => string {
  const words = useTranslations('outbox.charts');
  const operation = useOperationName();
  return (mark) =>
    mark.kind === 'action' || mark.kind === 'run'
      ? words(`${mark.kind}Mark`, { operation: operation(mark.operation), count: mark.changed })
      : words(`marks.${mark.kind}`);
}

/** Notes on an observed step: that it may still change, and its marks. */
export function useStepNotes(marks: readonly ChartMark[], stepMs: number): (point: RatedPoint) => string[] {
  const words = useTranslations('outbox.charts');
  const kind = useMarkKind();
  return ({ at, underWay, provisional }) => [
    ...(underWay ? [words('underWay')] : provisional ? [words('provisional')] : []),
    ...marks
      .filter((mark) => Date.parse(mark.at) >= Date.parse(at) && Date.parse(mark.at) < Date.parse(at) + stepMs)
      .map((mark) => `${kind(mark)}: ${mark.text}`),
  ];
}

export function LineSign({ line: { hue, dash, barred } }: { line: ChartLine }) {
  return (
    <svg width={20} height={8} aria-hidden>
      {barred ? (
        <path d="M4 8V2H8V8ZM11 8V0H15V8Z" fill={`var(--oc-${hue})`} />
      ) : (
        <path d="M1 4H19" stroke={`var(--oc-${hue})`} strokeWidth={2} strokeDasharray={dash} />
      )}
    </svg>
  );
}
