import { Anchor } from '@mantine/core';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import type { AuditEntry, EventDetail } from '@/lib/shared/model';
import { AuditSentence } from '../audit/audit-line';
import { StateMark } from '../figures/mark';
import { AbsoluteTime } from '../figures/time';
import { useFormat } from '../figures/use-format';
import classes from './event-screen.module.css';
import story from './story.module.css';

/** One thing that happened to an event, as far as its table and the record tell. */
type TimelineItem =
  | { kind: 'created' | 'published'; at: string }
  | { kind: 'attempted'; at: string; attempts: number | null }
  | { kind: 'archived'; at: string; by: string; reason: string }
  | { kind: 'intervention'; at: string; entry: AuditEntry };

/** What stands first among things of one instant. */
const RANK = { created: 0, attempted: 1, published: 2, archived: 3, intervention: 4 } as const;

/**
 * The story of an event, oldest first. The table keeps the last attempt only, so earlier ones are a number and no lines.
 * An archiving that the record tells as an intervention is not told twice.
 */
export function timelineItems({ event, interventions, archived }: EventDetail): TimelineItem[] {
  const items: TimelineItem[] = interventions.map((entry) => ({ kind: 'intervention', at: entry.at, entry }));
  if (event.createdAt !== null) items.push({ kind: 'created', at: event.createdAt });
  // A relay that stamps the claim and the success alike leaves one instant for both.
  if (event.lastAttemptAt !== null && event.lastAttemptAt !== event.publishedAt) {
    items.push({ kind: 'attempted', at: event.lastAttemptAt, attempts: event.attempts });
  }
  if (event.publishedAt !== null) items.push({ kind: 'published', at: event.publishedAt });
  if (archived !== null && !interventions.some(({ interventionId }) => interventionId === archived.interventionId)) {
    items.push({ kind: 'archived', at: archived.at, by: archived.by, reason: archived.reason });
  }
  return items.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || RANK[a.kind] - RANK[b.kind]);
}

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
      <ol className={story.timeline}>
        {items.map((item, index) => {
          const before = items[index - 1];
          const gap = before === undefined ? null : Date.parse(item.at) - Date.parse(before.at);
          return (
            <li key={`${item.kind} ${item.at} ${String(index)}`} data-kind={item.kind}>
              <div className={story.when} title={item.at}>
                <AbsoluteTime at={item.at} />
                {gap !== null && gap > 0 && <span>{t('later', { gap: format.latency(gap) })}</span>}
              </div>
              <ItemText item={item} outboxName={outboxName} />
            </li>
          );
        })}
        <li data-kind="now">
          <div className={story.when} title={asOf}>
            <AbsoluteTime at={asOf} />
          </div>
          <div className={story.now}>
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
