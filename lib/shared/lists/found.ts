/** What became of a business key, over all outboxes. */
import type { OutboxEvent } from '../model';

/** Worst first. `stuck`: claimed for longer than the outbox's `stuckAfter`. `out`: published. `none`: no event has this key. */
export const FATES = ['dead', 'stuck', 'retrying', 'waiting', 'archived', 'out', 'none'] as const;
/** `not_known`: an outbox that did not answer could change it. */
export type Fate = (typeof FATES)[number] | 'not_known';

/** A key has as many characters. */
export const FIND_KEY_MAX = 300;

/** Why a text cannot be looked for as a key, in the words of `find.wrong.<code>`; null if it can. */
export function keyProblem(text: string): 'empty' | 'too_long' | 'bad_character' | null {
  if (text.trim() === '') return 'empty';
  if ([...text].length > FIND_KEY_MAX) return 'too_long';
  return text.includes('\0') ? 'bad_character' : null;
}

/**
 * Why an outbox's part may not be all there is; texts under `find.why.<code>`. `not_answered`: not in time. `unavailable`: its database or
 * table cannot be read. `hidden`: this role may not search one of its keys. `searching`: one without an index is searched now, ask again.
 * `removed`: its relay deletes what is published, so a missing event was published and removed, or never written.
 */
export type FoundWhy = 'not_answered' | 'unavailable' | 'hidden' | 'searching' | 'removed';

export interface FoundEvent extends OutboxEvent {
  fate: Exclude<Fate, 'none'>;
}

export interface FoundIn {
  outbox: string;
  /** At most 20, what needs somebody first, then newest. */
  events: FoundEvent[];
  /** How far was looked: rows tried and back to which creation where no index leads to the key; null where nothing was read. */
  searched: { rows: number; backTo: string | null; complete: boolean } | null;
  more: boolean;
  why: FoundWhy | null;
}

export interface Found {
  asOf: string;
  key: string;
  fate: Fate;
  /** Those that have events or something to say first; the others follow, each once. */
  outboxes: FoundIn[];
}

/** Why an outbox may have events with the key that were not seen; `incomplete`: it was not searched to its end. null: all were seen. */
export const leftOpen = ({ why, searched }: FoundIn): Exclude<FoundWhy, 'removed'> | 'incomplete' | null =>
  why !== null && why !== 'removed' ? why : searched?.complete === false ? 'incomplete' : null;
