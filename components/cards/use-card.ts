import { useEffect, useRef, useState } from 'react';
import { BASE_PATH } from '@/lib/shared/base-path';
import { CARD_PARAMETERS, type CardView } from '@/lib/shared/embedding/views';
import { pollCard, type Shown } from './polling';
import { linkToHost } from './host';

/** The parameters of a view as its own query, for the reader's session; those of a token are in the token. */
const parametersOf = (view: CardView, query: URLSearchParams): string =>
  new URLSearchParams([...query].filter(([name]) => Object.hasOwn(CARD_PARAMETERS[view], name))).toString();

/** The element whose height the frame should have, and what it shows: kept current, and told to the page around it. */
export function useCard(view: CardView, origins: readonly string[]) {
  const content = useRef<HTMLElement>(null);
  const [shown, setShown] = useState<Shown>({ card: null, state: 'loading', code: null, nowMs: 0 });
  useEffect(() => {
    const query = new URLSearchParams(window.location.search);
    const byToken = query.get('auth') === 'token';
    const address = `${BASE_PATH}/api/embed/${view}${byToken ? '' : `?${parametersOf(view, query)}`}`;
    const link = linkToHost(origins, query.get('host'), (message) => {
      if (message.type === 'token') polling.take(message.token);
      // The script in the head follows it.
      else document.documentElement.dataset.theme = message.theme;
    });
    let [said, height, inView] = ['', 0, false];
    link.tell({ type: 'ready', view });
    const polling = pollCard({
      view,
      load: (token, signal) => {
        const headers: HeadersInit = token === null ? {} : { Authorization: `Bearer ${token}` };
        return fetch(address, { cache: 'no-store', credentials: byToken ? 'omit' : 'same-origin', headers, signal });
      },
      wantToken: byToken ? (why) => link.tell({ type: 'token-wanted', why }) : null,
      publish: (next) => {
        setShown(next);
        const { state, code } = next;
        if (said !== `${state} ${code}`) link.tell({ type: 'state', state, code });
        said = `${state} ${code}`;
      },
    });
    const sizes = new ResizeObserver(([entry]) => {
      const now = Math.ceil(entry?.borderBoxSize[0]?.blockSize ?? 0);
      // A frame that is not displayed has no height to have.
      if (now !== height && now > 0) link.tell({ type: 'size', height: (height = now) });
    });
    const look = (): void => polling.look(inView && !document.hidden);
    const views = new IntersectionObserver((entries) => {
      inView = entries.at(-1)?.isIntersecting ?? false;
      look();
    });
    for (const observer of [sizes, views]) if (content.current) observer.observe(content.current);
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      for (const started of [sizes, views]) started.disconnect();
      polling.stop();
      link.close();
    };
  }, [view, origins]);
  return [content, shown] as const;
}
