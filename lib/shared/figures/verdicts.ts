/**
 * What is wrong with an outbox, in one word. Worst first, the order in which the fleet is sorted: what cannot be seen,
 * then what stops every event, or soon will, a kind of event, one key, then what is lost one by one, and last what is merely late.
 * Each with how loudly it asks for a person.
 */
export const VERDICT_TONE = {
  source_down: 'blind',
  cannot_see: 'blind',
  relay_stopped: 'act',
  log_held: 'act',
  broker_refusing: 'act',
  poison_row: 'act',
  starved: 'act',
  no_handler: 'act',
  blocked_on_key: 'act',
  dead_growing: 'act',
  stuck_processing: 'act',
  falling_behind: 'watch',
  healthy: 'healthy',
} as const satisfies Record<string, 'healthy' | 'watch' | 'act' | 'blind'>;
export type Verdict = keyof typeof VERDICT_TONE;
export const VERDICTS = Object.keys(VERDICT_TONE) as Verdict[];
export type Tone = (typeof VERDICT_TONE)[Verdict];

/** `code` names its sentence (`evidence.<code>`), `values` fill it in: times as ISO strings, durations in milliseconds as `…Ms`. */
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

/** The facts that the sentence of a verdict speaks of; the first one besides where an outbox cannot be seen. */
export const SENTENCE_FACTS = [
  'stuck_events',
  'oldest_claim',
  'newly_dead',
  'all_failed',
  'endless_rows',
  'failing_ahead',
  'fresh_behind',
  'type_never_out',
  'key_behind',
  'grows_by',
  'drains_in',
  'slot_endangered',
] as const;
export type SentenceFact = (typeof SENTENCE_FACTS)[number];
