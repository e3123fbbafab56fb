import type { Hue } from './chart-model';

/** A line as it is drawn: its hue and its dashes. */
export function LineSign({ hue, dash }: { hue: Hue; dash?: string }) {
  return (
    <svg width={20} height={8} aria-hidden>
      <path d="M1 4H19" stroke={`var(--oc-${hue})`} strokeWidth={2} strokeDasharray={dash} />
    </svg>
  );
}
