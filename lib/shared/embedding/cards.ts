/** What `GET /api/embed/{view}` answers: as a viewer sees it, without payloads and names of people. */
import type { FleetLine } from '../figures/fleet';
import type { Found, FoundEvent, FoundIn } from '../lists/found';
import type { Count } from '../figures/measured';
import type { Window } from '../figures/windows';
import type { OutboxReading } from '../model';
import type { DeadLetterGroup } from '../dead-letter-groups';

export type CardEvent = Pick<
  FoundEvent,
  'id' | 'type' | 'state' | 'fate' | 'error' | 'createdAt' | 'publishedAt' | 'lastAttemptAt' | 'diedAt'
>;

export interface FateCard extends Omit<Found, 'outboxes'> {
  view: 'fate';
  outboxes: (Omit<FoundIn, 'events'> & { events: CardEvent[] })[];
  names: Record<string, string>;
}

export interface OutboxCard {
  view: 'outbox';
  asOf: string;
  /** Milliseconds between two readings, if all is well. */
  everyMs: number;
  window: Window;
  line: FleetLine;
  /** For its chart: what waits, is dead and was published in each step; null where unknown. */
  stepSeconds: number;
  points: { at: string; waiting: number | null; dead: number | null; published: number | null; gap: boolean }[];
}

export interface DeadLettersCard {
  view: 'dead-letters';
  asOf: string;
  everyMs: number;
  outboxes: { id: string; name: string; dead: Count; complete: boolean; stale: OutboxReading['stale'] }[];
  /** Causes, largest first, and how many more there are. */
  groups: Pick<DeadLetterGroup, 'outbox' | 'type' | 'error' | 'count' | 'seen' | 'lastSeenAt'>[];
  moreGroups: number;
}

export interface FleetCard {
  view: 'fleet';
  asOf: string;
  everyMs: number;
  /** Worst first. */
  lines: FleetLine[];
}

export type Card = FateCard | OutboxCard | DeadLettersCard | FleetCard;
