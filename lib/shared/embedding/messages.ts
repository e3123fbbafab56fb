/** Messages between a card's frame and its host; public/embed.v1.js holds the host's side of them. */
import type { CardView } from './views';

/** In each message, so that neither side takes another's for one of these. */
export const PROTOCOL = 'outbox-card.v1';

/** `live`: figures are current. `stale`: old ones are shown, aged. `refused`: `code` says why. `unreachable`: nothing came yet. */
export type CardState = 'loading' | 'live' | 'stale' | 'refused' | 'unreachable';

export type FromFrame =
  | { protocol: typeof PROTOCOL; type: 'ready'; view: CardView }
  | { protocol: typeof PROTOCOL; type: 'size'; height: number }
  | { protocol: typeof PROTOCOL; type: 'state'; state: CardState; code: string | null }
  | { protocol: typeof PROTOCOL; type: 'token-wanted'; why: 'start' | 'ending' | 'refused' };

export type CardTheme = 'light' | 'dark' | 'auto';

export type ToFrame =
  { protocol: typeof PROTOCOL; type: 'token'; token: string } | { protocol: typeof PROTOCOL; type: 'theme'; theme: CardTheme };
