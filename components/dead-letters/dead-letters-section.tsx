import { Anchor, Button } from '@mantine/core';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import { Fragment, useState } from 'react';
import { VARIABLE } from '@/lib/shared/lists/cause';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import { groupFilter } from '@/lib/shared/lists/dead-letter-groups';
import { serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import type { DeadLetterGroup, DeadLetters } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import type { Column } from '../events/columns';
import { EventsTable } from '../events/events-table';
import type { Ticks } from '../events/ticks';
import { CountText } from '../figures/figure';
import { RelativeTime } from '../figures/time';
import { useFormat } from '../figures/use-format';
import { useMay } from '../frame/console';
import { Notice, ReadOnlyNote } from '../frame/note';
import { type ShownRows, useSteadyRows } from '../lists/steady-rows';
import { outboxHref } from '../hrefs';
import classes from './dead-letters.module.css';

/** Causes per outbox on the screen of all outboxes. */
const GROUPS_IN_OVERVIEW = 5;
const GROUPS_AT_FIRST = 10;

interface DeadLettersSectionProps {
  letters: DeadLetters;
  shown: ShownRows;
  ticks: Ticks;
  dimmed: boolean;
  current: number;
  overview: boolean;
  onTickGroup: (group: DeadLetterGroup) => void;
  /** A filter is set, so no rows may mean that none match. */
  filtered: boolean;
}

/** The dead letters of one outbox: counts by type and error, then rows; or why there are none. */
export function DeadLettersSection(props: DeadLettersSectionProps) {
  const { letters, shown, ticks, dimmed, current, overview, filtered, onTickGroup } = props;
  const t = useTranslations();
  const { outbox, dead, groups, searched, page, problem } = letters;
  const href = outboxHref(outbox.id, '/dead-letters');
  const columns = COLUMNS.filter((column) =>
    column === 'age' || column === 'attempts' ? outbox.capabilities.fields[column === 'age' ? 'createdAt' : 'attempts'] : true,
  );
  const state = outbox.capabilities.states.dead;
  const events = shown.rows;
  const tickable = useMay('event:operate') && outbox.writable;
  const unavailable = (why: UnavailableReason) => t('deadLetters.unavailable', { why: t(`unavailable.${why}`) });
  const whyNone = ((): string | null => {
    if (problem !== null) return dead.why === undefined || dead.why === 'source_down' ? t(`problems.${problem}`) : unavailable(dead.why);
    if (!state.available) return unavailable(state.because);
    return groups.length === 0 && events.length === 0 && !filtered ? t('deadLetters.none') : null;
  })();
  return (
    <section className={classes.section} aria-label={t('deadLetters.of', { outbox: outbox.name })}>
      <header className={classes.sectionHeader}>
        {overview && (
          <h2>
            <Anchor component={Link} href={href} inherit>
              <bdi>{outbox.name}</bdi>
            </Anchor>
          </h2>
        )}
        {problem === null && state.available && (
          <span className={classes.dead}>
            {dead.count === null ? <CountText count={dead} /> : t.rich('deadLetters.count', { count: () => <CountText count={dead} /> })}
          </span>
        )}
        {searched?.complete === false && <span className={classes.dead}>{t('deadLetters.ofNewest', { rows: searched.rows })}</span>}
      </header>
      {problem === null && <ReadOnlyNote outbox={outbox} />}
      {whyNone !== null ? (
        <p className={classes.plain}>{whyNone}</p>
      ) : (
        <>
          <ErrorGroups
            href={href}
            groups={groups}
            first={overview ? GROUPS_IN_OVERVIEW : GROUPS_AT_FIRST}
            onTick={tickable ? onTickGroup : null}
          />
          <EventsTable
            outbox={outbox}
            shown={shown}
            columns={columns}
            ticks={ticks}
            current={current}
            dimmed={dimmed}
            caption={t('deadLetters.of', { outbox: outbox.name })}
          >
            {events.length === 0 && <Notice title={t('events.noMatch.title')} />}
          </EventsTable>
          {overview && page?.nextCursor != null && (
            <Anchor component={Link} href={href} size="sm" className={classes.all}>
              {t('deadLetters.all', { outbox: outbox.name })}
            </Anchor>
          )}
        </>
      )}
    </section>
  );
}

interface SteadySectionProps extends Omit<DeadLettersSectionProps, 'shown'> {
  list: string;
  round: number;
}

/** One section of several, with steady rows of its own. */
export function SteadySection({ list, round, ...props }: SteadySectionProps) {
  return <DeadLettersSection {...props} shown={useSteadyRows(list, props.letters.page?.events, round)} />;
}

const COLUMNS: readonly Column[] = ['aggregate', 'age', 'attempts', 'error'];

interface ErrorGroupsProps {
  /** The address of this outbox's dead letters. */
  href: string;
  groups: readonly DeadLetterGroup[];
  first: number;
  /** Ticks every event of a group; null if they cannot be changed. */
  onTick: ((group: DeadLetterGroup) => void) | null;
}

/** Dead events counted by type and error, most first; a line links to its rows. */
function ErrorGroups({ href, groups, first, onTick }: ErrorGroupsProps) {
  const t = useTranslations('deadLetters');
  const format = useFormat();
  const [all, setAll] = useState(false);
  const shown = all ? groups : groups.slice(0, first);
  return (
    <div className={classes.groups} data-tickable={onTick !== null || undefined}>
      <ul aria-label={t('groups')}>
        {shown.map((group, index) => (
          // By index: if two causes change places, their lines change text and do not jump.
          <li key={index}>
            <strong className={classes.groupCount}>{format.number(group.count)}</strong>
            <span className={classes.groupText}>
              <Anchor
                component={Link}
                href={`${href}?${serialiseEventFilter(groupFilter(group)).toString()}`}
                prefetch={false}
                size="sm"
                className={classes.groupError}
                title={group.error ?? undefined}
              >
                {group.error === null ? t('noError') : <Template text={group.error} />}
              </Anchor>
              <bdi className={classes.groupType}>{group.type ?? t('noType')}</bdi>
            </span>
            {group.newestAt !== null && (
              <span className={classes.groupTime} title={t('newest')}>
                <RelativeTime at={group.newestAt} />
              </span>
            )}
            {onTick !== null && (
              <Button
                size="compact-xs"
                variant="default"
                aria-label={t('tickGroupOf', { count: group.count, error: group.error ?? t('noError') })}
                onClick={() => onTick(group)}
              >
                {t('tickGroup', { count: group.count })}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {groups.length > shown.length && (
        <button type="button" className={classes.moreGroups} onClick={() => setAll(true)}>
          {t('moreGroups', { count: groups.length - shown.length })}
        </button>
      )}
    </div>
  );
}

/** The error, with the parts that differ between its rows in grey. */
function Template({ text }: { text: string }) {
  return (
    <bdi>
      {text.split(VARIABLE).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <span className={classes.variable}>{VARIABLE}</span>}
          {visibleText(part)}
        </Fragment>
      ))}
    </bdi>
  );
}
