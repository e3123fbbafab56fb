'use client';

import { Button } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { EventFilter, EventPage, OutboxInfo } from '@/lib/shared/model';
import { countFilters } from '@/lib/shared/lists/event-filter';
import type { EventsSnapshot } from './events-snapshot';
import { secondsAgo } from './filter-editors';
import { ListOrder, Searched } from './list-footer';
import classes from './events-screen.module.css';

interface NoticeProps {
  title: string;
  text?: ReactNode;
  children?: ReactNode;
}

/** What stands where the rows would be. */
export function Notice({ title, text, children }: NoticeProps) {
  return (
    <div className={classes.notice} role="status">
      <p className={classes.noticeTitle}>{title}</p>
      {text !== undefined && <div className={classes.noticeText}>{text}</div>}
      {children !== undefined && <div className={classes.noticeButtons}>{children}</div>}
    </div>
  );
}

interface ListNoticeProps {
  outbox: OutboxInfo;
  filter: EventFilter;
  snapshot: EventsSnapshot;
  onFilter: (filter: EventFilter) => void;
  onTurn: (cursor: string | null) => void;
  onRetry: () => void;
  /** A page behind a cursor: the cursor itself may be what is wrong. */
  turned: boolean;
}

/** Why there is no row: nothing there, nothing that matches, or not readable; and what to do about it. */
export function ListNotice({ outbox, filter, snapshot: { page, problem }, onFilter, onTurn, onRetry, turned }: ListNoticeProps) {
  const t = useTranslations();
  if (page === null) {
    if (problem?.code === 'timeout') {
      return (
        <Notice title={t('events.timeout.title')} text={t('events.timeout.text')}>
          {outbox.capabilities.fields.createdAt && (
            <Button variant="default" size="xs" onClick={() => onFilter({ ...filter, from: secondsAgo(3_600), to: undefined })}>
              {t('events.timeout.lastHour')}
            </Button>
          )}
          <Button variant="default" size="xs" onClick={onRetry}>
            {t('events.retry')}
          </Button>
        </Notice>
      );
    }
    return (
      <Notice
        title={t('events.failed')}
        text={
          <>
            <p>{t(`problems.${problem?.code ?? 'unavailable'}`)}</p>
            {problem?.reference !== undefined && (
              <p className={classes.mono}>{t('interventions.reference', { reference: problem.reference })}</p>
            )}
          </>
        }
      >
        {turned && (
          <Button size="xs" onClick={() => onTurn(null)}>
            {t('events.pages.first')}
          </Button>
        )}
        <Button variant="default" size="xs" onClick={onRetry}>
          {t('events.retry')}
        </Button>
      </Notice>
    );
  }
  if (countFilters(filter) === 0) {
    return <Notice title={t('events.empty.title')} text={t('events.empty.text', { table: outbox.table })} />;
  }
  return <NoMatch page={page} filter={filter} onFilter={onFilter} onTurn={onTurn} />;
}

interface NoMatchProps extends Pick<ListNoticeProps, 'filter' | 'onFilter' | 'onTurn'> {
  page: EventPage;
}

function NoMatch({ page, filter, onFilter, onTurn }: NoMatchProps) {
  const t = useTranslations('events');
  const { nextCursor } = page;
  return (
    <Notice
      title={t('noMatch.title')}
      text={
        <>
          <Searched page={page} order={filter.order ?? 'newest'} onFurther={nextCursor === null ? null : () => onTurn(nextCursor)} />
          <ListOrder page={page} />
        </>
      }
    >
      {nextCursor !== null && (
        <Button size="xs" onClick={() => onTurn(nextCursor)}>
          {t('noMatch.further')}
        </Button>
      )}
      <Button variant="default" size="xs" onClick={() => onFilter({ order: filter.order })}>
        {t('filter.clearAll')}
      </Button>
    </Notice>
  );
}
