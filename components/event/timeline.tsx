'use client';

import { Anchor } from '@mantine/core';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import type { EventDetail } from '@/lib/shared/model';
import { AuditSentence } from '../audit/audit-sentence';
import { StateMark } from '../figures/mark';
import { AbsoluteTime } from '../figures/time';
import { useFormat } from '../figures/use-format';
import { timelineItems, type TimelineItem } from './timeline-items';
import classes from './event-screen.module.css';

/** The story of the event, oldest first, with exact times and the gap to the line before. */
export function Timeline({ detail, outboxName }: { detail: EventDetail; outboxName: string }) {
  const t = useTranslations('event.timeline');
  const format = useFormat();
  const items = timelineItems(detail);
  const { event, asOf } = detail;
  const href = `/audit?${new URLSearchParams({ event: event.id }).toString()}`;
  return (
    <section className={classes.block} aria-label={t('title')}>
      <header className={classes.blockHeader}>
        <h2>{t('title')}</h2>
        {detail.interventions.length > 0 && (
          <Anchor component={Link} href={href} size="sm">
            {t('audit')}
          </Anchor>
        )}
      </header>
      <ol className={classes.timeline}>
        {items.map((item, index) => {
          const before = items[index - 1];
          const gap = before === undefined ? null : Date.parse(item.at) - Date.parse(before.at);
          return (
            <li key={`${item.kind} ${item.at} ${String(index)}`} data-kind={item.kind}>
              <div className={classes.when} title={item.at}>
                <AbsoluteTime at={item.at} />
                {gap !== null && gap > 0 && <span>{t('later', { gap: format.latency(gap) })}</span>}
              </div>
              <ItemText item={item} outboxName={outboxName} />
            </li>
          );
        })}
        <li data-kind="now">
          <div className={classes.when} title={asOf}>
            <AbsoluteTime at={asOf} />
          </div>
          <div className={classes.now}>
            {t('now')} <StateMark state={event.state} label={event.stateLabel} />
          </div>
        </li>
      </ol>
    </section>
  );
}

function ItemText({ item, outboxName }: { item: TimelineItem; outboxName: string }) {
  const t = useTranslations('event.timeline');
  switch (item.kind) {
    case 'created':
      return <div>{t('created')}</div>;
    case 'attempted':
      return <div>{item.attempts === null ? t('attempted') : t('attemptedNth', { attempts: item.attempts })}</div>;
    case 'published':
      return <div>{t('published')}</div>;
    case 'archived':
      return <div>{t('archived', { by: item.by, reason: item.reason })}</div>;
    case 'intervention':
      return <AuditSentence entry={item.entry} outboxName={outboxName} brief />;
  }
}
