/** The six states an event can be in. A shape that cannot show one says so; it is never drawn as zero. */
export const STATES = ['pending', 'retrying', 'processing', 'published', 'dead', 'archived'] as const;
export type State = (typeof STATES)[number];

/** States an event rests in while it is still in the outbox or its dead-letter table. */
export const LIVE_STATES = ['pending', 'retrying', 'processing', 'published', 'dead'] as const;
export type LiveState = (typeof LIVE_STATES)[number];

/** A row whose values match no rule of its shape is shown as `unmapped` and offers no operation. */
export type EventState = State | 'unmapped';

export const isState = (value: unknown): value is State => (STATES as readonly unknown[]).includes(value);
