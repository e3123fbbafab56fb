import { Anchor, Button, type ButtonProps } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { countFilters } from '@/lib/shared/lists/event-filter';
import type { EventsSnapshot, EventFilter, EventPage, OutboxInfo } from '@/lib/shared/model';
import { useFormat } from '../figures/format';
import type { Snapshot } from '../frame/live';
import { Notice } from '../frame/note';
import { TextButton } from '../frame/popovers';
import { secondsAgo } from '../lists/filters';
import type { List } from '../lists/use-list';
import classes from './event-list.module.css';

interface ShownPage {
  page: EventPage;
  list: List<EventFilter, Snapshot>;
}

/** What was searched, and paging: "nothing found" must not be read as "does not exist". */
export function ListFooter({ page, list }: ShownPage) {
  const t = useTranslations('events.pages');
  const { turned, pending, turnTo } = list;
  const { nextCursor, previousCursor } = page;
  const turn = (way: 'previous' | 'next', cursor: string | null, sign: Pick<ButtonProps, 'leftSection' | 'rightSection'>) => (
    <Button variant="default" size="xs" {...sign} disabled={cursor === null || pending} onClick={() => turnTo(cursor)}>
      {t(way)}
    </Button>
  );
  return (
    <div className={classes.footer}>
      <div>
        <Searched page={page} list={list} />
      </div>
      <div className={classes.turn}>
        {turned && previousCursor !== null && (
          <TextButton variant="subtle" size="xs" onClick={() => turnTo(null)} disabled={pending} label={t('first')} />
        )}
        {turn('previous', previousCursor, { leftSection: <IconChevronLeft size={14} aria-hidden /> })}
        {turn('next', nextCursor, { rightSection: <IconChevronRight size={14} aria-hidden /> })}
      </div>
    </div>
  );
}

/** How far was searched, what an order other than creation means, and what an index would change, so that no event is missed unnoticed. */
function Searched({ page, list: { filter, turnTo } }: ShownPage) {
  const t = useTranslations('events');
  const states = useTranslations('states');
  const format = useFormat();
  const { orderedBy, leftOut, missingIndex, nextCursor } = page;
  const { rows, complete, backTo } = page.searched;
  const at = backTo === null ? null : format.absolute(backTo);
  const count = page.events.length;
  const order = filter.order ?? 'newest';
  const text = (): string => {
    if (complete) return t('pages.allSearched');
    // A full page stops at its last row.
    if (rows <= count) return at === null ? t('pages.shown', { count }) : t('pages.shownBackTo', { order, count, at });
    return at === null ? t('pages.searched', { order, rows }) : t('pages.searchedBackTo', { order, rows, at });
  };
  // Rows in an unmapped state are rare: they are mentioned only where the list seems to end.
  const told = nextCursor === null || leftOut.some((state) => state !== 'unmapped') ? leftOut : [];
  return (
    <>
      <p className={classes.searched}>
        {text()}
        {!complete && rows > count && nextCursor !== null && (
          <>
            {' · '}
            <Anchor component="button" type="button" size="sm" onClick={() => turnTo(nextCursor)}>
              {t('pages.further')}
            </Anchor>
          </>
        )}
      </p>
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

/** Why there is no row: none exist, none match, or they are not readable; and what to do about it. */
export function ListNotice({ outbox, list }: { outbox: OutboxInfo; list: List<EventFilter, EventsSnapshot> }) {
  const t = useTranslations();
  const { filter, turned, setFilter, turnTo } = list;
  const { page, problem } = list.snapshot;
  const retry = <TextButton variant="default" size="xs" onClick={() => void list.refresh()} label={t('events.retry')} />;
  const lastHour = () => setFilter({ ...filter, from: secondsAgo(3_600), to: undefined });
  if (page === null && problem?.code === 'timeout')
    return (
      <Notice title={t('events.timeout.title')} text={t('events.timeout.text')}>
        {outbox.capabilities.fields.createdAt && (
          <TextButton variant="default" size="xs" onClick={lastHour} label={t('events.timeout.lastHour')} />
        )}
        {retry}
      </Notice>
    );
  if (page === null)
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
        {/* The cursor itself may be the cause. */}
        {turned && <TextButton size="xs" onClick={() => turnTo(null)} label={t('events.pages.first')} />}
        {retry}
      </Notice>
    );
  if (countFilters(filter) === 0) {
    return <Notice title={t('events.empty.title')} text={t('events.empty.text', { table: outbox.table })} />;
  }
  const { nextCursor } = page;
  return (
    <Notice title={t('events.noMatch.title')} text={<Searched page={page} list={list} />}>
      {nextCursor !== null && <TextButton size="xs" onClick={() => turnTo(nextCursor)} label={t('events.noMatch.further')} />}
      <TextButton variant="default" size="xs" onClick={() => setFilter({ order: filter.order })} label={t('events.filter.clearAll')} />
    </Notice>
  );
}
