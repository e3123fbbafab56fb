import type { ChartLine } from './chart-model';

/** A line or bars as they are drawn: their hue, and a line's dashes. */
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
