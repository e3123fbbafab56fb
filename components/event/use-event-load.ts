import { useState } from 'react';
import type { EventDetail, EventUpdate } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';

export type LoadEvent = (input: {
  outbox: string;
  event: string;
  full?: boolean;
  since?: string;
  contentKey?: string;
}) => Promise<ActionResult<EventUpdate>>;

interface EventLoad {
  /** The event as it is now; content that has not changed is the one that is there already. */
  action: () => Promise<ActionResult<EventDetail>>;
  /** What the next reading is to bring: all of the content from now on, or what is so after this moment. */
  ask: (wanted: { full?: true; anew?: true }) => void;
}

/** Says with every reading what the screen has, so that it is read once for all who look and content is sent once. */
export function useEventLoad(load: LoadEvent, outbox: string, initial: EventDetail): EventLoad {
  const [made] = useState(() => eventLoad(load, outbox, initial));
  return made;
}

function eventLoad(load: LoadEvent, outbox: string, initial: EventDetail): EventLoad {
  let last = initial;
  let contentKey: string | undefined;
  let since: string | undefined = initial.asOf;
  let full = false;
  return {
    ask(wanted) {
      if (wanted.full === true) full = true;
      if (wanted.anew === true) since = undefined;
    },
    async action() {
      const result = await load({
        outbox,
        event: initial.event.id,
        ...(full ? { full } : {}),
        ...(since === undefined ? {} : { since }),
        ...(contentKey === undefined ? {} : { contentKey }),
      });
      if (!result.ok) return result;
      const { contentKey: key, ...update } = result.value;
      const kept = contentKey === key ? { payload: last.payload, headers: last.headers } : {};
      last = { payload: last.payload, headers: last.headers, ...update, ...kept };
      contentKey = key;
      since = last.asOf;
      return { ok: true, value: last };
    },
  };
}
