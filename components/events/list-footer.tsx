'use client';

import { Anchor, Button } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { EventPage } from '@/lib/shared/model';
import { useFormat } from '../figures/use-format';
import classes from './events-screen.module.css';

interface ListFooterProps {
  page: EventPage;
  order: 'newest' | 'oldest';
  /** A page behind a cursor: the way back to the first one is offered. */
  turned: boolean;
  pending: boolean;
  onTurn: (cursor: string | null) => void;
}

/** What was searched, and the way on: nobody should take "nothing found" for "does not exist". */
export function ListFooter({ page, order, turned, pending, onTurn }: ListFooterProps) {
  const t = useTranslations('events.pages');
  const { nextCursor, previousCursor } = page;
  return (
    <div className={classes.footer}>
      <div>
        <Searched page={page} order={order} onFurther={nextCursor === null ? null : () => onTurn(nextCursor)} />
        <ListOrder page={page} />
      </div>
      <div className={classes.turn}>
        {turned && previousCursor !== null && (
          <Button variant="subtle" size="xs" onClick={() => onTurn(null)} disabled={pending}>
            {t('first')}
          </Button>
        )}
        <Button
          variant="default"
          size="xs"
          leftSection={<IconChevronLeft size={14} aria-hidden />}
          disabled={previousCursor === null || pending}
          onClick={() => onTurn(previousCursor)}
        >
          {t('previous')}
        </Button>
        <Button
          variant="default"
          size="xs"
          rightSection={<IconChevronRight size={14} aria-hidden />}
          disabled={nextCursor === null || pending}
          onClick={() => onTurn(nextCursor)}
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
