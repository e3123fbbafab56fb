import type { EventPage } from '@/lib/shared/model';
import type { ShownCode } from '@/lib/shared/problems';

/** What the events screen polls: a page of events, or why there is none (a filter that reads too much, a source that is down). */
export interface EventsSnapshot {
  asOf: string | null;
  page: EventPage | null;
  problem: { code: ShownCode; reference?: string } | null;
}
