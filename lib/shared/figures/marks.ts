export const MARK_KINDS = ['deploy', 'incident', 'note'] as const;
export const MARK_TEXT_MAX = 200;

/** A note on the time axis: why a line may have changed at that moment. */
export interface Mark extends Record<'id' | 'at' | 'text', string> {
  kind: (typeof MARK_KINDS)[number];
  /** null for all outboxes. */
  outbox: string | null;
  /** http or https. */
  url: string | null;
  /** Name of the account or token. */
  actor: string;
}

/** An operator's action on the charts by itself: as a mark, with its reason as the text. Its id is that of one of its interventions. */
export interface ActionMark extends Omit<Mark, 'kind'> {
  kind: 'action';
  operation: string;
  changed: number;
}

/** A run by itself, by its id. */
export interface RunMark extends Omit<ActionMark, 'kind'> {
  kind: 'run';
}

export type ChartMark = Mark | ActionMark | RunMark;
