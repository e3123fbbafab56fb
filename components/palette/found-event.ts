import type { EventState } from '@/lib/shared/states';

/** An event the palette found by an id. */
export interface FoundEvent {
  outbox: string;
  id: string;
  type: string | null;
  state: EventState;
}
