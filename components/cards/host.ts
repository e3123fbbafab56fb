/** The link between a card's frame and the page around it: nobody else is heard, and nothing is said to anybody else. */
import { PROTOCOL, type CardTheme, type FromFrame, type ToFrame } from '@/lib/shared/embedding/messages';

const isTheme = (value: unknown): value is CardTheme => value === 'light' || value === 'dark' || value === 'auto';

/** A token goes into a header: visible characters, and not too many of them. */
const TOKEN = /^[\x21-\x7e]{1,8000}$/;

/** A host's message of exactly the known shape; null for anything else. */
export function readMessage(data: unknown): ToFrame | null {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return null;
  // A map has no inherited fields that a message could bring along.
  const fields = new Map<string, unknown>(Object.entries(data));
  const [type, token, theme] = [fields.get('type'), fields.get('token'), fields.get('theme')];
  if (fields.size !== 3 || fields.get('protocol') !== PROTOCOL) return null;
  if (type === 'token' && typeof token === 'string' && TOKEN.test(token)) return { protocol: PROTOCOL, type, token };
  return type === 'theme' && isTheme(theme) ? { protocol: PROTOCOL, type, theme } : null;
}

/** The end of a token in milliseconds since the epoch, as it says itself: only for asking for the next one in time. */
export function tokenEndMs(token: string): number {
  try {
    const [, payload = ''] = token.split('.');
    const { exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1_000 : Infinity;
  } catch {
    return Infinity;
  }
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

/** The origin of the page around the frame: the first that is in the list. */
export const hostOrigin = (origins: readonly string[], named: readonly (string | null | undefined)[]): string | null =>
  named.find((origin) => origin != null && origins.includes(origin)) ?? null;

type Said = FromFrame extends infer M ? (M extends FromFrame ? Omit<M, 'protocol'> : never) : never;

/** `tell` says false outside of a frame, and where the page around it is none of `origins`. */
export function linkToHost(origins: readonly string[], wanted: string | null, hear: (message: ToFrame) => void) {
  const { parent, location, document } = window;
  const origin = parent === window ? null : hostOrigin(origins, [wanted, location.ancestorOrigins?.[0], originOf(document.referrer)]);
  const onMessage = ({ source, origin: from, data }: MessageEvent<unknown>): void => {
    const message = source === parent && origins.includes(from) ? readMessage(data) : null;
    if (message !== null) hear(message);
  };
  if (origin !== null) window.addEventListener('message', onMessage);
  return {
    tell(said: Said): boolean {
      if (origin !== null) parent.postMessage({ protocol: PROTOCOL, ...said }, origin);
      return origin !== null;
    },
    close: (): void => window.removeEventListener('message', onMessage),
  };
}
