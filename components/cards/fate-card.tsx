import { useState } from 'react';
import { useTranslations } from 'next-intl';
import type { CardEvent, FateCard } from '@/lib/shared/embedding/cards';
import { visibleText } from '@/lib/shared/text/visible-text';
import { FateMark } from '../figures/mark';
import { RelativeTime } from '../figures/time';
import { useWhyOpen } from '../find/use-why-open';
import { eventHref, findHref } from '../hrefs';
import classes from './card.module.css';
import { CardHead, listNames, Out, type CardProps } from './card-parts';

/** Lines before the others are asked for. */
const FIRST = 8;
/** Of an error: enough to know it, and a card stays a card. */
const ERROR_CHARACTERS = 200;

/** When the last thing that is known happened to an event. */
const lastAt = ({ diedAt, publishedAt, lastAttemptAt, createdAt }: CardEvent): string =>
  diedAt ?? publishedAt ?? lastAttemptAt ?? createdAt ?? '';

/** Of all outboxes: what needs somebody first, then the newest. */
function timeline(outboxes: FateCard['outboxes']): (CardEvent & { outbox: string })[] {
  const needs = ({ fate }: CardEvent): boolean => fate === 'dead' || fate === 'stuck';
  return outboxes
    .flatMap(({ outbox, events }) => events.map((event) => ({ ...event, outbox })))
    .sort((a, b) => Number(needs(b)) - Number(needs(a)) || lastAt(b).localeCompare(lastAt(a)));
}

/** What became of a key: in a sentence, event by event, and what is not known. */
export function FateView({ card, note }: CardProps<FateCard>) {
  const t = useTranslations('cards.fate');
  const says = useTranslations('find.says');
  const [all, setAll] = useState(false);
  const { asOf, key, fate, outboxes, names } = card;
  const events = timeline(outboxes);
  const shown = all ? events : events.slice(0, FIRST);
  const count = events.filter((event) => event.fate === fate).length;
  return (
    <>
      <CardHead asOf={asOf} href={findHref(key)} title={visibleText(key)} note={note} />
      <p className={classes.sentence}>
        <FateMark fate={fate} />
        <span>{says(fate, { count, total: events.length })}</span>
      </p>
      <ul className={classes.lines} aria-label={t('events')}>
        {shown.map((event) => (
          <li key={`${event.outbox} ${event.id}`} className={classes.event}>
            <FateMark fate={event.fate} />
            <span className={classes.what}>
              <Out href={eventHref(event.outbox, event.id)}>{visibleText(event.type ?? event.id)}</Out>{' '}
              <bdi className={classes.quiet}>{names[event.outbox] ?? event.outbox}</bdi>
              {event.fate !== 'out' && <bdi className={classes.error}>{visibleText(event.error ?? '').slice(0, ERROR_CHARACTERS)}</bdi>}
            </span>
            <span className={classes.when}>{lastAt(event) !== '' && <RelativeTime at={lastAt(event)} />}</span>
          </li>
        ))}
      </ul>
      {events.length > shown.length && (
        <button type="button" className={classes.more} onClick={() => setAll(true)}>
          {t('rest', { count: events.length - shown.length })}
        </button>
      )}
      <Unknown card={card} />
    </>
  );
}

/** Where was looked, and what may be missing: each reason once, with the outboxes it is about. */
function Unknown({ card: { outboxes, names } }: { card: FateCard }) {
  const t = useTranslations('cards.fate');
  const whyOpen = useWhyOpen();
  const reasons = new Map<string, string[]>();
  for (const part of outboxes) {
    const said = [...whyOpen(part), ...(part.more ? [t('more')] : [])].join('. ');
    if (said !== '') reasons.set(said, [...(reasons.get(said) ?? []), names[part.outbox] ?? part.outbox]);
  }
  return (
    <footer className={classes.foot}>
      <p>{t('looked', { count: outboxes.length })}</p>
      {[...reasons].map(([reason, where]) => (
        <p key={reason}>
          <b>{listNames(where)}:</b> {reason}
        </p>
      ))}
    </footer>
  );
}
