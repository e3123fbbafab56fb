'use client';

import { Checkbox } from '@mantine/core';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import { memo, type ReactNode } from 'react';
import { formatAmount } from '@/lib/shared/text/money';
import type { OutboxEvent } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import { Figure } from '../figures/figure';
import { StateMark } from '../figures/mark';
import { AbsoluteTime, RelativeTime } from '../figures/time';
import { useFormat } from '../figures/use-format';
import type { Column } from './columns';
import classes from './events-table.module.css';

interface EventRowProps {
  outbox: string;
  event: OutboxEvent;
  columns: readonly Column[];
  current: boolean;
  ticked: boolean;
  /** Not in the list any more; its place is kept until the list is shown anew. */
  gone: boolean;
  onTick: ((event: OutboxEvent, range: boolean) => void) | null;
}

/** Rows are drawn again only when they change: a poll brings fifty new objects that say the same. */
export const EventRow = memo(
  Row,
  (before, after) =>
    before.current === after.current &&
    before.ticked === after.ticked &&
    before.gone === after.gone &&
    before.columns === after.columns &&
    before.onTick === after.onTick &&
    JSON.stringify(before.event) === JSON.stringify(after.event),
);

function Row({ outbox, event, columns, current, ticked, gone, onTick }: EventRowProps) {
  const t = useTranslations('events');
  const label = [event.type, event.aggregateId ?? event.id].filter((part) => part !== null).join(' · ');
  return (
    <tr
      role="row"
      data-current={current || undefined}
      data-ticked={ticked || undefined}
      data-gone={gone || undefined}
      title={gone ? t('gone') : undefined}
      aria-selected={onTick === null ? undefined : ticked}
    >
      {onTick !== null && (
        <td role="cell" className={classes.tick}>
          <Checkbox
            size="xs"
            checked={ticked}
            aria-label={t('tick', { event: label })}
            // React reads a checkbox from its click, so the shift key is known here.
            onChange={(change) => onTick(event, change.nativeEvent instanceof MouseEvent && change.nativeEvent.shiftKey)}
          />
        </td>
      )}
      <td role="cell" className={classes.state}>
        <StateMark state={event.state} label={event.stateLabel} />
      </td>
      <td role="cell" className={classes.type}>
        <Link
          href={`/outboxes/${encodeURIComponent(outbox)}/events/${encodeURIComponent(event.id)}`}
          prefetch={false}
          data-event={event.id}
        >
          <bdi>{event.type === null ? t('noType') : visibleText(event.type)}</bdi>
        </Link>
      </td>
      {columns.map((column) => (
        <td role="cell" key={column} className={classes[column]} data-column={column}>
          <Cell column={column} event={event} />
        </td>
      ))}
    </tr>
  );
}

function Cell({ column, event }: { column: Column; event: OutboxEvent }): ReactNode {
  const format = useFormat();
  const t = useTranslations('events');
  switch (column) {
    case 'aggregate':
      return event.aggregateId === null ? null : <bdi title={event.aggregateType ?? undefined}>{visibleText(event.aggregateId)}</bdi>;
    case 'id':
      return <bdi title={event.id}>{event.id}</bdi>;
    case 'age':
      return event.createdAt === null ? null : <RelativeTime at={event.createdAt} />;
    case 'attempts':
      if (event.attempts === null) return null;
      return event.maxAttempts === null
        ? format.number(event.attempts)
        : t('attemptsOf', { attempts: format.number(event.attempts), max: format.number(event.maxAttempts) });
    case 'error':
      return event.error === null ? null : <bdi title={event.error}>{visibleText(event.error)}</bdi>;
    case 'amount':
      return event.amount === null
        ? unread(event)
        : `${formatAmount(event.amount, format.locale)}${event.currency === null ? '' : ` ${event.currency}`}`;
    case 'createdAt':
      return event.createdAt === null ? null : <AbsoluteTime at={event.createdAt} />;
    case 'attemptedAt':
      return event.lastAttemptAt === null ? null : <RelativeTime at={event.lastAttemptAt} />;
    case 'publishedAt':
      return event.publishedAt === null ? null : <RelativeTime at={event.publishedAt} />;
    case 'dedupKey':
      return event.dedupKey === null ? null : <bdi title={event.dedupKey}>{event.dedupKey}</bdi>;
    case 'traceId':
      return event.traceId === null ? unread(event) : <bdi title={event.traceId}>{event.traceId}</bdi>;
  }
}

/** What lies inside a document that is too large to be looked into for a list; it may be there. */
const unread = ({ tooLarge }: OutboxEvent): ReactNode => (tooLarge ? <Figure text={null} why="too_large" /> : null);
