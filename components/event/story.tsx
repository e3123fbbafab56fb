import { IconArrowsExchange, IconHandStop } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { AuditEntry, EventDetail, OutboxInfo } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import { TextLink } from '../frame/controls';
import { AuditSentence } from '../audit/audit-line';
import { StateMark } from '../figures/mark';
import { AbsoluteTime, RelativeTime, useFormat } from '../figures/format';
import { eventAuditHref, eventHref, outboxHref } from '../hrefs';
import { Block } from './facts';
import classes from './event-screen.module.css';
import story from './story.module.css';

type TimelineItem =
  | { kind: 'created' | 'died' | 'published'; at: string }
  | { kind: 'attempted'; at: string; attempts: number | null }
  | { kind: 'archived'; at: string; by: string; reason: string }
  | { kind: 'intervention'; at: string; entry: AuditEntry };

/** The order of items at one instant. */
const RANK = { created: 0, attempted: 1, died: 2, published: 3, archived: 4, intervention: 5 } as const;

/** Oldest first. The table keeps the last attempt only; an archiving that is recorded as an intervention is listed once. */
export function timelineItems({ event, interventions, archived }: EventDetail): TimelineItem[] {
  const items: TimelineItem[] = interventions.map((entry) => ({ kind: 'intervention', at: entry.at, entry }));
  if (event.createdAt !== null) items.push({ kind: 'created', at: event.createdAt });
  // A relay that writes one time for both claim and success gives one item.
  if (event.lastAttemptAt !== null && event.lastAttemptAt !== event.publishedAt) {
    items.push({ kind: 'attempted', at: event.lastAttemptAt, attempts: event.attempts });
  }
  if (event.diedAt !== null && event.diedAt !== event.lastAttemptAt) items.push({ kind: 'died', at: event.diedAt });
  if (event.publishedAt !== null) items.push({ kind: 'published', at: event.publishedAt });
  if (archived !== null && !interventions.some(({ interventionId }) => interventionId === archived.interventionId)) {
    items.push({ kind: 'archived', at: archived.at, by: archived.by, reason: archived.reason });
  }
  return items.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || RANK[a.kind] - RANK[b.kind]);
}

export function Timeline({ detail, outboxName }: { detail: EventDetail; outboxName: string }) {
  const t = useTranslations('event.timeline');
  const format = useFormat();
  const items = timelineItems(detail);
  const { event, asOf } = detail;
  const text = (item: TimelineItem): ReactNode => {
    if (item.kind === 'intervention') {
      const { attempts, error } = detail.triedBefore[item.entry.id] ?? { attempts: null, error: null };
      return (
        <>
          <AuditSentence entry={item.entry} outboxName={outboxName} brief />
          {attempts !== null && <div className={classes.note}>{t('triedBefore', { attempts: Number(attempts) })}</div>}
          {error !== null && <div className={classes.note}>{t('errorBefore', { error: visibleText(error) })}</div>}
        </>
      );
    }
    if (item.kind === 'archived') return <div>{t('archived', { by: item.by, reason: item.reason })}</div>;
    const nth = item.kind === 'attempted' ? item.attempts : null;
    return <div>{nth === null ? t(item.kind) : t('attemptedNth', { attempts: nth })}</div>;
  };
  const audit = detail.interventions.length > 0 && <TextLink href={eventAuditHref(event.id)} size="sm" label={t('audit')} />;
  return (
    <Block title={t('title')} tools={audit}>
      <ol className={story.timeline}>
        {items.map((item, index) => {
          const gap = Date.parse(item.at) - Date.parse(items[index - 1]?.at ?? item.at);
          return (
            <li key={`${item.kind} ${item.at} ${String(index)}`} data-kind={item.kind}>
              <div className={story.when} title={item.at}>
                <AbsoluteTime at={item.at} />
                {gap > 0 && <span>{t('later', { gap: format.latency(gap) })}</span>}
              </div>
              {text(item)}
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
    </Block>
  );
}

/** The events of the same aggregate in order: which wait behind others, and which were overtaken. */
export function Neighbours({ outbox, detail }: { outbox: OutboxInfo; detail: EventDetail }) {
  const t = useTranslations('event.neighbours');
  const { fields, keepsOrder } = outbox.capabilities;
  const { aggregateId } = detail.event;
  if (!fields.aggregate || aggregateId === null) {
    return (
      <Block title={t('title')}>
        <p className={classes.note}>{fields.aggregate ? t('noAggregate') : t('notInTable')}</p>
      </Block>
    );
  }
  const query = new URLSearchParams({ aggregate: aggregateId, order: 'oldest' }).toString();
  const all = <TextLink href={outboxHref(outbox.id, `/events?${query}`)} size="sm" label={t('all')} />;
  return (
    <Block title={t('title')} tools={all}>
      <p className={classes.note}>{keepsOrder ? t('keepsOrder') : t('noOrder')}</p>
      {!detail.neighboursComplete && <p className={classes.note}>{t('partial')}</p>}
      <ol className={story.neighbours}>
        {detail.neighbours.map(({ event, current, ...marks }) => (
          <li key={event.id} aria-current={current || undefined}>
            <StateMark state={event.state} label={event.stateLabel} />
            <span className={story.neighbourName}>
              {current ? (
                <bdi>{event.type ?? event.id}</bdi>
              ) : (
                <TextLink href={eventHref(outbox.id, event.id)} prefetch={false} size="sm" label={<bdi>{event.type ?? event.id}</bdi>} />
              )}
              {current && <span className={story.here}>{t('current')}</span>}
            </span>
            <span className={story.marks}>
              {MARKS.filter(([mark]) => marks[mark]).map(([mark, Icon]) => (
                <span key={mark} className={story[mark]} title={t(`${mark}Why`)}>
                  <Icon size={14} aria-hidden />
                  {t(mark)}
                </span>
              ))}
            </span>
            <span className={story.neighbourAge}>{event.createdAt !== null && <RelativeTime at={event.createdAt} />}</span>
          </li>
        ))}
      </ol>
    </Block>
  );
}

const MARKS = [
  ['blocked', IconHandStop],
  ['overtaken', IconArrowsExchange],
] as const;
