/** What the proxy must know of the configuration's `embedding`: it is bundled apart from the console, and both are in one process. */
import type { Config } from '@/lib/config/config';
import { CARD_VIEWS } from '@/lib/shared/embedding/views';
import { perProcess } from '@/lib/shared/kept';

const known = perProcess('embedding', (): Pick<Config, 'embedding'> => ({ embedding: null }));

/** Called when the console starts, which Next waits for before its first answer. */
export function setEmbedding(embedding: Config['embedding']): void {
  known.embedding = embedding;
}

/** null where no page may show a card, and before the console has started. */
export const knownEmbedding = (): Config['embedding'] => known.embedding;

/** The script that other pages load. */
const SCRIPT = '/embed.v1.js';
const CARDS: readonly string[] = CARD_VIEWS.map((view) => `/embed/${view}`);

/** Exactly as they are routed: whatever else leads to the same page stays closed to frames. */
export type OpenPart = 'card' | 'script';
export const openPart = (pathname: string): OpenPart | null => (pathname === SCRIPT ? 'script' : CARDS.includes(pathname) ? 'card' : null);

/** Addresses that need no sign-in, whether there is something at them or not. */
export const isOfCards = (pathname: string): boolean => pathname === SCRIPT || pathname === '/embed' || pathname.startsWith('/embed/');
