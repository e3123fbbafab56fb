export const MARK_KINDS = ['deploy', 'incident', 'note'] as const;
export const MARK_TEXT_MAX = 200;

/** A note on the time axis: why a line may have changed at that moment. */
export interface Mark {
  id: string;
  at: string;
  kind: (typeof MARK_KINDS)[number];
  text: string;
  /** null for all outboxes. */
  outbox: string | null;
  /** http or https. */
  url: string | null;
  /** Name of the account or token. */
  actor: string;
}
