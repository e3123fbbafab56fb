import { useEffect, useState } from 'react';
import type { EventState } from '@/lib/shared/states';
import type { ActionResult } from '@/lib/shared/problems';

/** An event the palette found by an id. */
interface FoundEvent {
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

/** An id has this many characters at least; shorter text is a name. */
const ID_LENGTH = 2;
const TYPING_PAUSE_MS = 250;
/** An outbox that did not answer is asked again after this long, so many times. */
const AGAIN_MS = 1_500;
const AGAIN_TIMES = 3;

const NOTHING: FoundEvents = { events: [], unread: [] };

interface EventSearch extends FoundEvents {
  status: 'idle' | 'searching' | 'done' | 'failed';
}

interface Answer extends FoundEvents {
  wanted: string;
  /** How often it has been asked for. */
  times: number;
  failed: boolean;
}

/** Asks once typing pauses, and again while an outbox does not answer; an answer to what is no longer asked is dropped. */
export function useEventSearch(wanted: string, findEvent: (text: string) => Promise<ActionResult<FoundEvents>>): EventSearch {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const asking = wanted.length >= ID_LENGTH;
  const times = answer?.wanted === wanted ? answer.times : 0;
  const complete = times > 0 && answer?.failed === false && answer.unread.length === 0;
  const ask = asking && !complete && times <= AGAIN_TIMES;
  useEffect(() => {
    if (!ask) return;
    let stopped = false;
    const timer = setTimeout(
      () => {
        void findEvent(wanted)
          .then((result) => ({ ...(result.ok ? result.value : NOTHING), failed: !result.ok }))
          .catch(() => ({ ...NOTHING, failed: true }))
          .then((found) => {
            if (!stopped) setAnswer({ ...found, wanted, times: times + 1 });
          });
      },
      times === 0 ? TYPING_PAUSE_MS : AGAIN_MS,
    );
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [wanted, ask, times, findEvent]);
  if (!asking) return { ...NOTHING, status: wanted === '' ? 'idle' : 'done' };
  if (answer?.wanted !== wanted) return { ...NOTHING, status: 'searching' };
  return { events: answer.events, unread: answer.unread, status: answer.failed ? 'failed' : 'done' };
}
