'use client';

import { useTranslations } from 'next-intl';
import type { CardView } from '@/lib/shared/embedding/views';
import { ClockProvider } from '../figures/format';
import classes from './card.module.css';
import { DeadLettersView, FateView, FleetView, Out, OutboxView } from './card-views';
import { useCard } from './use-card';

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
    <main ref={content} className={classes.card} data-state={state} aria-busy={state === 'loading'}>
      {card === null ? (
        <>
          <header className={classes.head}>
            <h1>{words(`titles.${view}`)}</h1>
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
