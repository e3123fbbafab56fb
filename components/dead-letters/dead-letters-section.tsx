import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { DeadLetters } from '@/lib/shared/dead-letter-groups';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import type { Column } from '../events/columns';
import { EventsTable } from '../events/events-table';
import type { Ticks } from '../events/ticks';
import { CountText } from '../figures/figure';
import { Notice, ReadOnlyNote } from '../frame/note';
import { TextLink } from '../frame/controls';
import { type ShownRows, useSteadyRows } from '../lists/steady-rows';
import { outboxHref } from '../hrefs';
import classes from './dead-letters.module.css';

interface DeadLettersSectionProps {
  letters: DeadLetters;
  shown: ShownRows;
  ticks: Ticks;
  dimmed: boolean;
  /** Left out on the screen of all outboxes; `causes` is null if there are none. */
  alone?: { current: number; causes: ReactNode };
  /** A filter is set, so no rows may mean that none match. */
  filtered: boolean;
}

/** The dead letters of one outbox: its causes, then rows; or why there are none. */
export function DeadLettersSection(props: DeadLettersSectionProps) {
  const { letters, shown, ticks, dimmed, filtered, alone } = props;
  const t = useTranslations();
  const { outbox, dead, searched, page, problem } = letters;
  const href = outboxHref(outbox.id, '/dead-letters');
  const { fields, states } = outbox.capabilities;
  // Where the time of death is not known, that of creation stands in its place.
  const without = [fields.diedAt ? 'age' : 'diedAt', ...(fields.attempts ? [] : ['attempts']), ...(fields.createdAt ? [] : ['age'])];
  const columns = COLUMNS.filter((column) => !without.includes(column));
  const state = states.dead;
  const events = shown.rows;
  const unavailable = (why: UnavailableReason) => t('deadLetters.unavailable', { why: t(`unavailable.${why}`) });
  const whyNone = ((): string | null => {
    if (problem !== null) return dead.why === undefined || dead.why === 'source_down' ? t(`problems.${problem}`) : unavailable(dead.why);
    if (!state.available) return unavailable(state.because);
    return alone?.causes == null && events.length === 0 && !filtered ? t('deadLetters.none') : null;
  })();
  return (
    <section className={classes.section} aria-label={t('deadLetters.of', { outbox: outbox.name })}>
      <header className={classes.sectionHeader}>
        {!alone && (
          <h2>
            <TextLink href={href} inherit label={<bdi>{outbox.name}</bdi>} />
          </h2>
        )}
        {problem === null && state.available && (
          <span className={classes.dead}>
            {dead.count === null ? <CountText count={dead} /> : t.rich('deadLetters.count', { count: () => <CountText count={dead} /> })}
          </span>
        )}
        {alone && searched?.complete === false && (
          <span className={classes.dead}>{t('deadLetters.ofNewest', { rows: searched.rows })}</span>
        )}
      </header>
      {problem === null && <ReadOnlyNote outbox={outbox} />}
      {whyNone !== null ? (
        <p className={classes.plain}>{whyNone}</p>
      ) : (
        <>
          {alone?.causes}
          <EventsTable
            outbox={outbox}
            shown={shown}
            columns={columns}
            ticks={ticks}
            current={alone?.current ?? -1}
            dimmed={dimmed}
            caption={t('deadLetters.of', { outbox: outbox.name })}
          >
            {events.length === 0 && <Notice title={t('events.noMatch.title')} />}
          </EventsTable>
          {!alone && page?.nextCursor != null && (
            <TextLink href={href} size="sm" className={classes.all} label={t('deadLetters.all', { outbox: outbox.name })} />
          )}
        </>
      )}
    </section>
  );
}

interface SteadySectionProps extends Omit<DeadLettersSectionProps, 'shown' | 'alone'> {
  list: string;
  round: number;
}

/** One section of the screen of all outboxes, with steady rows of its own. */
export function SteadySection({ list, round, ...props }: SteadySectionProps) {
  return <DeadLettersSection {...props} shown={useSteadyRows(list, props.letters.page?.events, round)} />;
}

const COLUMNS: readonly Column[] = ['aggregate', 'diedAt', 'age', 'attempts', 'error'];
