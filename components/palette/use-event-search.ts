import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { FindGap } from '@/lib/shared/lists/event-filter';
import type { ActionResult } from '@/lib/shared/problems';
import type { EventState } from '@/lib/shared/states';

export interface FoundEvents {
  events: { outbox: string; id: string; type: string | null; aggregateId: string | null; state: EventState }[];
  /** Outboxes that have more than these. */
  more: string[];
  gaps: FindGap[];
}

/** An id has at least this many characters; shorter text is a name. */
const ID_LENGTH = 2;
const TYPING_PAUSE_MS = 250;
/** If an outbox does not answer, the search is repeated after this time, at most AGAIN_TIMES. */
const AGAIN_MS = 1_500;
const AGAIN_TIMES = 3;

const NOTHING: FoundEvents = { events: [], more: [], gaps: [] };

interface EventSearch extends FoundEvents {
  status: 'idle' | 'searching' | 'done' | 'failed';
  /** Too short to be looked for among ids. */
  short?: boolean;
}

/** Searches once typing pauses, and again while an outbox does not answer; outdated results are dropped. */
export function useEventSearch(wanted: string, findEvent: (text: string) => Promise<ActionResult<FoundEvents>>): EventSearch {
  const [text] = useDebouncedValue(wanted, TYPING_PAUSE_MS);
  const asking = wanted.length >= ID_LENGTH;
  const { data, isError } = useQuery({
    queryKey: ['find-event', text],
    enabled: asking && text === wanted,
    queryFn: async () => {
      const result = await findEvent(text);
      if (!result.ok) throw new Error(result.problem.code);
      return result.value;
    },
    refetchInterval: ({ state: { data: found, status, dataUpdateCount, errorUpdateCount } }) => {
      const open = status === 'error' || found?.gaps.some(({ why }) => why === 'unread') === true;
      return open && dataUpdateCount + errorUpdateCount <= AGAIN_TIMES && AGAIN_MS;
    },
    refetchOnWindowFocus: false,
    gcTime: AGAIN_MS,
  });
  if (!asking) return { ...NOTHING, status: wanted === '' ? 'idle' : 'done', short: true };
  if (isError && text === wanted) return { ...NOTHING, status: 'failed' };
  if (data === undefined || text !== wanted) return { ...NOTHING, status: 'searching' };
  return { ...data, status: 'done' };
}
