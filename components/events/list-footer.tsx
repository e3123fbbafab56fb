import { Anchor, Button } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { EventFilter, EventPage } from '@/lib/shared/model';
import { useFormat } from '../figures/use-format';
import type { List } from '../lists/use-list';
import classes from './event-list.module.css';

interface ListFooterProps {
  page: EventPage;
  list: Pick<List<EventFilter, object>, 'filter' | 'turned' | 'pending' | 'turnTo'>;
}

/** What was searched, and the way on: nobody should take "nothing found" for "does not exist". */
export function ListFooter({ page, list: { filter, turned, pending, turnTo } }: ListFooterProps) {
  const t = useTranslations('events.pages');
  const { nextCursor, previousCursor } = page;
  return (
    <div className={classes.footer}>
      <div>
        <Searched page={page} order={filter.order ?? 'newest'} onFurther={nextCursor === null ? null : () => turnTo(nextCursor)} />
        <ListOrder page={page} />
      </div>
      <div className={classes.turn}>
        {turned && previousCursor !== null && (
          <Button variant="subtle" size="xs" onClick={() => turnTo(null)} disabled={pending}>
            {t('first')}
          </Button>
        )}
        <Button
          variant="default"
          size="xs"
          leftSection={<IconChevronLeft size={14} aria-hidden />}
          disabled={previousCursor === null || pending}
          onClick={() => turnTo(previousCursor)}
        >
          {t('previous')}
        </Button>
        <Button
          variant="default"
          size="xs"
          rightSection={<IconChevronRight size={14} aria-hidden />}
          disabled={nextCursor === null || pending}
          onClick={() => turnTo(nextCursor)}
        >
          {t('next')}
        </Button>
      </div>
    </div>
  );
}

interface SearchedProps {
  page: EventPage;
  order: 'newest' | 'oldest';
  onFurther: (() => void) | null;
}

export function Searched({ page: { searched, events }, order, onFurther }: SearchedProps) {
  const t = useTranslations('events.pages');
  const format = useFormat();
  if (searched.complete) return <p className={classes.searched}>{t('allSearched')}</p>;
  // A full page has stopped at its last row and has searched no further.
  if (searched.rows <= events.length) {
    return (
      <p className={classes.searched}>
        {searched.backTo === null
          ? t('shown', { count: events.length })
          : t('shownBackTo', { order, count: events.length, at: format.absolute(searched.backTo) })}
      </p>
    );
  }
  return (
    <p className={classes.searched}>
      {searched.backTo === null
        ? t('searched', { order, rows: searched.rows })
        : t('searchedBackTo', { order, rows: searched.rows, at: format.absolute(searched.backTo) })}
      {onFurther !== null && (
        <>
          {' · '}
          <Anchor component="button" type="button" size="sm" onClick={onFurther}>
            {t('further')}
          </Anchor>
        </>
      )}
    </p>
  );
}

/** What the order means where it is not that of creation, and what an index would change: nobody should miss an event unawares. */
export function ListOrder({ page: { orderedBy, leftOut, missingIndex, nextCursor } }: { page: EventPage }) {
  const t = useTranslations('events');
  const states = useTranslations('states');
  // Rows in a state nobody knows are rare: they are worth a word where the list seems to end.
  const told = nextCursor === null || leftOut.some((state) => state !== 'unmapped') ? leftOut : [];
  return (
    <>
      {orderedBy !== 'created' && <p className={classes.searched}>{t(`pages.orderedBy.${orderedBy}`)}</p>}
      {told.length > 0 && (
        <p className={classes.searched}>{t('pages.leftOut', { states: told.map((state) => states(state)).join(', ') })}</p>
      )}
      {missingIndex !== null && (
        <p className={classes.searched}>
          {t(`missingIndex.${missingIndex.code}`)} <code className={classes.mono}>{missingIndex.sql}</code>
        </p>
      )}
    </>
  );
}
