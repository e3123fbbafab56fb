import { Anchor } from '@mantine/core';
import { IconArrowsExchange, IconHandStop } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import type { Neighbour, OutboxInfo } from '@/lib/shared/model';
import { StateMark } from '../figures/mark';
import { RelativeTime } from '../figures/time';
import classes from './event-screen.module.css';
import story from './story.module.css';

/** The events of the same aggregate in their order: what waits behind what, and what went out past it. */
export function Neighbours({
  outbox,
  neighbours,
  complete,
  aggregateId,
}: {
  outbox: OutboxInfo;
  neighbours: Neighbour[];
  /** False where only events around this one were looked at. */
  complete: boolean;
  aggregateId: string | null;
}) {
  const t = useTranslations('event.neighbours');
  if (!outbox.capabilities.fields.aggregate || aggregateId === null) {
    return (
      <section className={classes.block} aria-label={t('title')}>
        <header className={classes.blockHeader}>
          <h2>{t('title')}</h2>
        </header>
        <p className={classes.note}>{outbox.capabilities.fields.aggregate ? t('noAggregate') : t('notInTable')}</p>
      </section>
    );
  }
  const base = `/outboxes/${encodeURIComponent(outbox.id)}/events`;
  const listHref = `${base}?${new URLSearchParams({ aggregate: aggregateId, order: 'oldest' }).toString()}`;
  return (
    <section className={classes.block} aria-label={t('title')}>
      <header className={classes.blockHeader}>
        <h2>{t('title')}</h2>
        <Anchor component={Link} href={listHref} size="sm">
          {t('all')}
        </Anchor>
      </header>
      <p className={classes.note}>{outbox.capabilities.keepsOrder ? t('keepsOrder') : t('noOrder')}</p>
      {!complete && <p className={classes.note}>{t('partial')}</p>}
      <ol className={story.neighbours}>
        {neighbours.map(({ event, current, blocked, overtaken }) => (
          <li key={event.id} aria-current={current || undefined}>
            <StateMark state={event.state} label={event.stateLabel} />
            <span className={story.neighbourName}>
              {current ? (
                <bdi>{event.type ?? event.id}</bdi>
              ) : (
                <Anchor component={Link} href={`${base}/${encodeURIComponent(event.id)}`} prefetch={false} size="sm">
                  <bdi>{event.type ?? event.id}</bdi>
                </Anchor>
              )}
              {current && <span className={story.here}>{t('current')}</span>}
            </span>
            <span className={story.marks}>
              {blocked && (
                <span className={story.blocked} title={t('blockedWhy')}>
                  <IconHandStop size={14} aria-hidden />
                  {t('blocked')}
                </span>
              )}
              {overtaken && (
                <span className={story.overtaken} title={t('overtakenWhy')}>
                  <IconArrowsExchange size={14} aria-hidden />
                  {t('overtaken')}
                </span>
              )}
            </span>
            <span className={story.neighbourAge}>{event.createdAt !== null && <RelativeTime at={event.createdAt} />}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
