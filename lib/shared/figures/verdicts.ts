/**
 * Verdicts, worst first, which is the order of the fleet: what cannot be read, then what stops every event, or will soon, then one type,
 * then one key, then single lost events, and last what is only late. The value is how urgently a person is needed.
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

/** `code` is the key of its text (`evidence.<code>`), filled with `values`: times as ISO strings, durations in milliseconds as `…Ms`. */
export interface Evidence {
  code: string;
  values: Record<string, string | number | null>;
}

export interface Held {
  verdict: Verdict;
  /** ISO 8601 UTC; null if it has been so for as long as the table shows. */
  since: string | null;
}

/** From when to when a verdict held. */
export interface VerdictSpan {
  outbox: string;
  verdict: Verdict;
  beganAt: string;
  /** null while it holds. */
  endedAt: string | null;
}

/** The worst verdict that holds, and what it is judged by. */
export interface Diagnosis extends Held {
  evidence: Evidence[];
  /** All that hold, worst first; `healthy` only alone. */
  holds: Held[];
}

/** Facts that the fleet says: in the text of a verdict, or beside how many are dead; for `cannot_see` the first fact besides. */
// prettier-ignore
export const SENTENCE_FACTS = [
  'stuck_events', 'oldest_claim', 'newly_dead', 'all_failed', 'endless_rows', 'failing_ahead', 'fresh_behind', 'type_never_out',
  'key_behind', 'grows_by', 'drains_in', 'left_behind', 'slot_endangered', 'died_again',
] as const;
export type SentenceFact = (typeof SENTENCE_FACTS)[number];
