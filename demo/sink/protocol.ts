/** What a relay hands to the sink. */
export interface Message {
  outbox: string;
  eventId: string;
  type: string;
  dedupKey: string | null;
  body: string;
}

/** One accepted message. Times are ISO 8601 UTC. */
export interface Delivery {
  outbox: string;
  eventId: string;
  dedupKey: string | null;
  /** When the sink accepted it. */
  at: string;
  /** When its request reached the sink. */
  startedAt: string;
}

/** refuse: 503 at once. timeout: no answer. error: 500. None of them records a delivery. */
export const FAULT_MODES = ['refuse', 'timeout', 'error', 'none'] as const;
export type FaultMode = (typeof FAULT_MODES)[number];

/** A fault of one outbox, of one type or of one event; the narrowest that fits a message counts. */
export interface FaultRule {
  outbox: string;
  type?: string;
  eventId?: string;
  /** `none` takes faults away: the one named, or every fault of the outbox when neither type nor event is. */
  mode: FaultMode;
  /** What the sink says; `{eventId}`, `{type}`, `{request}` and `{hex}` are filled in. */
  message?: string;
  /** How often each event fails before it passes; without it, always. */
  times?: number;
  /** The fault ends by itself after this many milliseconds. */
  forMs?: number;
  /** The sink takes this long to say no. */
  delayMs?: number;
}
