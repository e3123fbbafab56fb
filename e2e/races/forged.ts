/** Evidence that never was, for tests of the judges. */
import type { Change } from './history';

/** A change of event `a` in the second of its number, by somebody else, unless it says otherwise. */
export const forgedChange = (seq: number, over: Partial<Change>): Change => ({
  seq: String(seq),
  place: 'main',
  op: 'UPDATE',
  event_id: 'a',
  before: null,
  after: null,
  ours: false,
  intervention: null,
  at: new Date(Date.UTC(2026, 0, 1, 0, 0, seq)),
  ...over,
});
