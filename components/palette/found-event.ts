import type { EventState } from '@/lib/shared/states';

/** An event the palette found by an id. */
export interface FoundEvent {
  outbox: string;
  id: string;
  type: string | null;
  state: EventState;
}

export interface FoundEvents {
  events: FoundEvent[];
  /** Outboxes that did not answer: the event may be there all the same. */
  unread: string[];
}
