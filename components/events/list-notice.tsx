import { Button } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { EventFilter, EventPage, OutboxInfo } from '@/lib/shared/model';
import { countFilters } from '@/lib/shared/lists/event-filter';
import type { EventsSnapshot } from '@/lib/shared/lists/snapshots';
import { Notice } from '../frame/note';
import { secondsAgo } from '../lists/filters';
import type { List } from '../lists/use-list';
import { ListOrder, Searched } from './list-footer';
import classes from './event-list.module.css';

interface ListNoticeProps {
  outbox: OutboxInfo;
  list: List<EventFilter, EventsSnapshot>;
}

/** Why there is no row: nothing there, nothing that matches, or not readable; and what to do about it. */
export function ListNotice({ outbox, list }: ListNoticeProps) {
  const t = useTranslations();
  const { filter, turned, setFilter, turnTo } = list;
  const { page, problem } = list.snapshot;
  const retry = (
    <Button variant="default" size="xs" onClick={() => void list.refresh()}>
      {t('events.retry')}
    </Button>
  );
  if (page === null) {
    if (problem?.code === 'timeout') {
      return (
        <Notice title={t('events.timeout.title')} text={t('events.timeout.text')}>
          {outbox.capabilities.fields.createdAt && (
            <Button variant="default" size="xs" onClick={() => setFilter({ ...filter, from: secondsAgo(3_600), to: undefined })}>
              {t('events.timeout.lastHour')}
            </Button>
          )}
          {retry}
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
        {/* The cursor itself may be what is wrong. */}
        {turned && (
          <Button size="xs" onClick={() => turnTo(null)}>
            {t('events.pages.first')}
          </Button>
        )}
        {retry}
      </Notice>
    );
  }
  if (countFilters(filter) === 0) {
    return <Notice title={t('events.empty.title')} text={t('events.empty.text', { table: outbox.table })} />;
  }
  return <NoMatch page={page} list={list} />;
}

function NoMatch({ page, list: { filter, setFilter, turnTo } }: { page: EventPage; list: ListNoticeProps['list'] }) {
  const t = useTranslations('events');
  const { nextCursor } = page;
  return (
    <Notice
      title={t('noMatch.title')}
      text={
        <>
          <Searched page={page} order={filter.order ?? 'newest'} onFurther={nextCursor === null ? null : () => turnTo(nextCursor)} />
          <ListOrder page={page} />
        </>
      }
    >
      {nextCursor !== null && (
        <Button size="xs" onClick={() => turnTo(nextCursor)}>
          {t('noMatch.further')}
        </Button>
      )}
      <Button variant="default" size="xs" onClick={() => setFilter({ order: filter.order })}>
        {t('filter.clearAll')}
      </Button>
    </Notice>
  );
}
