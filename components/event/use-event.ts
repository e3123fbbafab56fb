import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { EventDetail, EventUpdate } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';
import { usePolledSnapshot } from '../frame/live';

export type LoadEvent = (input: {
  outbox: string;
  event: string;
  full?: boolean;
  since?: string;
  contentKey?: string;
}) => Promise<ActionResult<EventUpdate>>;

/** `contentKey` identifies the content that the screen has, so that it is sent once. */
type Held = EventDetail & { contentKey?: string };

/** Polls one event: each request says what the screen has, so that viewers share readings and content is sent once. */
export function useEvent(load: LoadEvent, outbox: string, initial: EventDetail, paused: boolean) {
  const queries = useQueryClient();
  const key = ['event', outbox, initial.event.id];
  const wanted = useRef({ full: false, anew: false });
  const action = async (): Promise<ActionResult<Held>> => {
    const held: Held = queries.getQueryData<Held>(key) ?? initial;
    const { payload, headers, asOf, contentKey } = held;
    const { full, anew } = wanted.current;
    const result = await load({
      outbox,
      event: initial.event.id,
      ...(full ? { full: true } : {}),
      ...(anew ? {} : { since: asOf }),
      ...(contentKey === undefined ? {} : { contentKey }),
    });
    if (!result.ok) return result;
    wanted.current.anew = false;
    const kept = contentKey === result.value.contentKey ? { payload, headers } : {};
    return { ok: true, value: { payload, headers, ...result.value, ...kept } };
  };
  const polled = usePolledSnapshot<Held>({ key, action, initial, paused });
  return {
    ...polled,
    /** Reads again: with all content from now on (`full`), or newer than this moment (`anew`). */
    ask: ({ full, anew }: { full?: true; anew?: true }) => {
      Object.assign(wanted.current, { ...(full && { full }), ...(anew && { anew }) });
      void polled.refresh();
    },
  };
}
