'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import { BASE_PATH } from '@/lib/shared/base-path';
import { CARD_PARAMETERS, type CardView } from '@/lib/shared/embedding/views';
import { ClockProvider } from '../figures/format';
import classes from './card.module.css';
import { DeadLettersView, FateView, FleetView, Out, OutboxView } from './card-views';
import { linkToHost } from './host';
import { pollCard, type Shown } from './polling';

/** A card in somebody else's page. */
export function CardFrame({ view, origins }: { view: CardView; origins: readonly string[] }) {
  const [content, { card, state, code, nowMs }] = useCard(view, origins);
  const words = useTranslations('cards');
  const said = (kind: 'stale' | 'refused'): string => {
    const key = `${kind}.${code ?? 'other'}` as `${typeof kind}.other`;
    return words(words.has(key) ? key : `${kind}.other`);
  };
  const note = state === 'stale' && (
    <p role="status" className={classes.note}>
      {said('stale')}
    </p>
  );
  return (
    <main ref={content} aria-labelledby="title" className={classes.card} data-state={state} aria-busy={state === 'loading'}>
      {card === null ? (
        <>
          <header className={classes.head}>
            <h1 id="title">{words(`titles.${view}`)}</h1>
          </header>
          <div role="status" className={code === null ? classes.skeleton : classes.refusal} data-view={view}>
            {code === null ? <span className={classes.unseen}>{words('frame.loading')}</span> : <p>{said('refused')}</p>}
            {code === 'unauthenticated' && <Out href="/">{words('frame.signIn')}</Out>}
            {code !== null && <code>{code}</code>}
          </div>
        </>
      ) : (
        <ClockProvider serverNow={nowMs}>
          {card.view === 'fate' && <FateView card={card} note={note} />}
          {card.view === 'outbox' && <OutboxView card={card} note={note} />}
          {card.view === 'dead-letters' && <DeadLettersView card={card} note={note} />}
          {card.view === 'fleet' && <FleetView card={card} note={note} />}
        </ClockProvider>
      )}
    </main>
  );
}

/** The parameters of a view as its own query, for the reader's session; those of a token are in the token. */
const parametersOf = (view: CardView, query: URLSearchParams): string =>
  new URLSearchParams([...query].filter(([name]) => Object.hasOwn(CARD_PARAMETERS[view], name))).toString();

/** The element whose height the frame should have, and what it shows: kept current, and told to the page around it. */
function useCard(view: CardView, origins: readonly string[]) {
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
