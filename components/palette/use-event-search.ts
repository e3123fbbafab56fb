import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type Found, type FoundWhy, keyProblem } from '@/lib/shared/lists/found';
import type { ActionResult } from '@/lib/shared/problems';

/** An id has at least this many characters; shorter text is a name. */
const ID_LENGTH = 2;
const TYPING_PAUSE_MS = 250;
/** If an outbox does not answer, the search is repeated after this time, at most AGAIN_TIMES. */
const AGAIN_MS = 1_500;
const AGAIN_TIMES = 3;
/** What may be otherwise in a moment. */
const PASSING: readonly (FoundWhy | null)[] = ['not_answered', 'unavailable', 'searching'];

const NOTHING: Found['outboxes'] = [];

interface EventSearch {
  outboxes: Found['outboxes'];
  status: 'idle' | 'searching' | 'done' | 'failed';
  /** Not looked for among ids: too short, or too long. */
  unsearched?: boolean;
}

/** Searches once typing pauses, and again while an outbox does not answer; outdated results are dropped. */
export function useEventSearch(wanted: string, find: (input: { key: string }) => Promise<ActionResult<Found>>): EventSearch {
  const [text] = useDebouncedValue(wanted, TYPING_PAUSE_MS);
  const asking = wanted.length >= ID_LENGTH && keyProblem(wanted) === null;
  const { data, isError } = useQuery({
    queryKey: ['find-event', text],
    enabled: asking && text === wanted,
    queryFn: async () => {
      const result = await find({ key: text });
      if (!result.ok) throw new Error(result.problem.code);
      return result.value;
    },
    refetchInterval: ({ state: { data: found, status, dataUpdateCount, errorUpdateCount } }) => {
      const open = status === 'error' || found?.outboxes.some(({ why }) => PASSING.includes(why)) === true;
      return open && dataUpdateCount + errorUpdateCount <= AGAIN_TIMES && AGAIN_MS;
    },
    refetchOnWindowFocus: false,
    gcTime: AGAIN_MS,
  });
  if (!asking) return { outboxes: NOTHING, status: wanted === '' ? 'idle' : 'done', unsearched: true };
  if (isError && text === wanted) return { outboxes: NOTHING, status: 'failed' };
  if (data === undefined || text !== wanted) return { outboxes: NOTHING, status: 'searching' };
  return { outboxes: data.outboxes, status: 'done' };
}
