import { useEffect, useState } from 'react';

/** The list an event was opened from, with the event looked at last. Of this tab until it loads anew; only a click writes it. */
let trail: { list: string; outbox: string; ids: readonly string[]; id: string; top: number } | null = null;

const here = (): string => window.location.pathname + window.location.search;

export function startTrail(target: EventTarget, outbox: string, events: readonly { id: string }[]): void {
  const link = target instanceof Element ? target.closest<HTMLElement>('[data-event]') : null;
  if (link)
    trail = { list: here(), outbox, ids: events.map(({ id }) => id), id: link.dataset.event ?? '', top: link.getBoundingClientRect().top };
}

/** The events of the list that an event was opened from, and its place there; -1 if it was not opened from one. */
export function useTrail(outbox: string, id: string): { ids: readonly string[]; index: number } {
  const [ids] = useState(trail?.outbox === outbox ? trail.ids : []);
  const index = ids.indexOf(id);
  useEffect(() => {
    if (trail !== null && index !== -1) trail.id = id;
  }, [id, index]);
  return { ids, index };
}

export const trailBack = () => (trail !== null && trail.list === here() ? trail : null);
