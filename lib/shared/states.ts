/** The six states of an event. One that a shape cannot show is reported as unavailable, never drawn as zero. */
export const STATES = ['pending', 'retrying', 'processing', 'published', 'dead', 'archived'] as const;
export type State = (typeof STATES)[number];

/** States of events that are still in the outbox or its dead-letter table. */
export const LIVE_STATES = ['pending', 'retrying', 'processing', 'published', 'dead'] as const;
export type LiveState = (typeof LIVE_STATES)[number];

/** `unmapped`: the row matches no rule of its shape; it offers no operation. */
export type EventState = State | 'unmapped';

export const isState = (value: unknown): value is State => (STATES as readonly unknown[]).includes(value);
