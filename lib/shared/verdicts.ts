/** What is wrong with an outbox, in one word. Worst first: the order in which the fleet is sorted. */
export const VERDICTS = ['source_down', 'relay_stopped', 'dead_growing', 'stuck_processing', 'healthy'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** How loudly a verdict asks for a person. */
export const VERDICT_TONE = {
  source_down: 'blind',
  relay_stopped: 'act',
  stuck_processing: 'act',
  dead_growing: 'act',
  healthy: 'healthy',
} as const satisfies Record<Verdict, 'healthy' | 'watch' | 'act' | 'blind'>;
export type Tone = (typeof VERDICT_TONE)[Verdict] | 'watch';

/**
 * One fact behind a verdict. `code` names its sentence in the catalogue (`evidence.<code>`), `values` fill it in:
 * numbers as numbers, times as ISO strings, durations in milliseconds under names ending in `Ms`.
 */
export interface Evidence {
  code: string;
  values: Record<string, string | number | null>;
}

export interface Diagnosis {
  verdict: Verdict;
  /** ISO 8601 UTC; null when it has always been so as far as the table tells. */
  since: string | null;
  evidence: Evidence[];
}
