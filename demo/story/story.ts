import type { StoryEvent } from '../schema/table';

/** What happens in one service, event by event; it remembers its open orders, so that they go on. */
export interface Story {
  next(): StoryEvent;
}
