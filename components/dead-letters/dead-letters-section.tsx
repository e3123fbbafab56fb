import { Anchor } from '@mantine/core';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import type { DeadLetterGroup, DeadLetters, OutboxEvent } from '@/lib/shared/model';
import type { Column } from '../events/columns';
import { EventsTable } from '../events/events-table';
import type { Ticks } from '../events/use-ticks';
import { CountText } from '../figures/figure';
import { useMay } from '../frame/console';
import { Notice } from '../frame/note';
import { useSteadyRows, type ShownRows } from '../lists/steady-rows';
import { ReadOnlyNote } from '../proof/read-only-note';
import { ErrorGroups } from './error-groups';
import classes from './dead-letters.module.css';

/** Lines per outbox on the screen of all outboxes. */
const GROUPS_IN_OVERVIEW = 5;
const GROUPS_AT_FIRST = 10;

interface DeadLettersSectionProps {
  letters: DeadLetters;
  shown: ShownRows;
  ticks: Ticks;
  dimmed: boolean;
  current: number;
  /** On the screen of all outboxes: with its name, fewer groups and a way to the rest. */
  overview: boolean;
  onTickGroup: (group: DeadLetterGroup) => void;
  /** The rows are narrowed, so none may mean that none match. */
  filtered: boolean;
}

/** The dead letters of one outbox: counts by type and error, then rows; or why there are none to see. */
export function DeadLettersSection(props: DeadLettersSectionProps) {
  const { letters, shown, ticks, dimmed, current, overview, filtered, onTickGroup } = props;
  const t = useTranslations();
  const { outbox, dead, groups, page, problem } = letters;
  const href = `/outboxes/${encodeURIComponent(outbox.id)}/dead-letters`;
  const columns = COLUMNS.filter((column) =>
    column === 'age' || column === 'attempts' ? outbox.capabilities.fields[column === 'age' ? 'createdAt' : 'attempts'] : true,
  );
  const state = outbox.capabilities.states.dead;
  const events = shown.rows;
  const tickable = useMay('event:operate') && outbox.writable;
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
      </header>
      {problem === null && <ReadOnlyNote outbox={outbox} />}
      {problem !== null ? (
        <p className={classes.plain}>
          {dead.why === undefined || dead.why === 'source_down'
            ? t(`problems.${problem}`)
            : t('deadLetters.unavailable', { why: t(`unavailable.${dead.why}`) })}
        </p>
      ) : !state.available ? (
        <p className={classes.plain}>{t('deadLetters.unavailable', { why: t(`unavailable.${state.because}`) })}</p>
      ) : groups.length === 0 && events.length === 0 && !filtered ? (
        <p className={classes.plain}>{t('deadLetters.none')}</p>
      ) : (
        <>
          <ErrorGroups
            outbox={outbox.id}
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
  /** The filter; another one starts with its own rows. */
  list: string;
  round: number;
}

/** A section among others, whose rows keep their places by themselves. */
export function SteadySection({ list, round, ...props }: SteadySectionProps) {
  return <DeadLettersSection {...props} shown={useSteadyRows(list, props.letters.page?.events ?? NO_EVENTS, round)} />;
}

const NO_EVENTS: OutboxEvent[] = [];
const COLUMNS: readonly Column[] = ['aggregate', 'age', 'attempts', 'error'];
