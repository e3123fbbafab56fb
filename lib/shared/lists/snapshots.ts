import type { DeadLetters, EventPage } from '../model';
import type { ShownCode } from '../problems';

/** What the events screen polls: a page of events, or why there is none (a filter that reads too much, a source that is down). */
export interface EventsSnapshot {
  asOf: string | null;
  page: EventPage | null;
  problem: { code: ShownCode; reference?: string } | null;
}

/** What the dead-letter screens poll: one outbox's, or every outbox's; each says for itself when it cannot be read. */
export interface DeadLettersSnapshot {
  asOf: string | null;
  outboxes: DeadLetters[];
}
