'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { DeadLetterGroup, DeadLettersSnapshot, DeadLetters } from '@/lib/shared/dead-letter-groups';
import { countFilters, serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import type { EventFilter } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';
import { groupBy } from '@/lib/shared/group-by';
import { type EventListProps, EventListScreen, useEventList, useListKeys } from '../events/event-list';
import { FilterBar, FilterMessages, OrderControl } from '../events/filter-bar';
import type { Ticks } from '../events/ticks';
import type { PlanChoice } from '../interventions/use-plan';
import { planOperations } from '../interventions/operations';
import { useSteadyRows } from '../lists/steady-rows';
import { RelativeTime } from '../figures/format';
import { useMay } from '../frame/console';
import type { CauseDetails } from './cause-panel';
import { Causes } from './causes';
import { DeadLettersSection, SteadySection } from './dead-letters-section';
import classes from './dead-letters.module.css';

interface DeadLettersScreenProps extends EventListProps<DeadLettersSnapshot> {
  /** The outbox shown; null for all. */
  outbox: string | null;
  load: (input: { outbox: string | null; query: string }) => Promise<ActionResult<DeadLettersSnapshot>>;
  readCause: CauseDetails['read'];
  note: NonNullable<CauseDetails['note']>;
}

export function DeadLettersScreen(props: DeadLettersScreenProps) {
  const { outbox, filter, errors, hiddenFilters, cursor, initial, load, readCause, note } = props;
  const t = useTranslations();
  const list = useEventList<DeadLettersSnapshot>({
    name: ['dead-letters', outbox],
    filter,
    cursor,
    initial,
    load: (query) => load({ outbox, query }),
  });
  const { snapshot, ticks, query, round } = list;
  // An intervention is on one outbox, so ticks are too: the first tick in another starts over there.
  const [tickedIn, setTickedIn] = useState<string | null>(null);
  const tickIn = (id: string): void => {
    if (tickedIn !== id) ticks.clear();
    setTickedIn(id);
  };
  const ticksOf = (id: string): Ticks => ({
    ...ticks,
    has: (event) => tickedIn === id && ticks.has(event),
    toggle: (event, range, shown) => {
      tickIn(id);
      ticks.toggle(event, range && tickedIn === id, shown);
    },
    toggleAll: (shown) => {
      tickIn(id);
      ticks.toggleAll(shown);
    },
  });
  const mayOperate = useMay('event:operate');
  const infos = new Map(snapshot.outboxes.map((letters) => [letters.outbox.id, letters.outbox]));
  const planOf = ({ outbox: of, id: cause }: DeadLetterGroup): PlanChoice | null => {
    const info = infos.get(of);
    const [first, ...others] = info === undefined ? [] : planOperations(info, ['dead']);
    return first === undefined ? null : { outbox: of, operations: [first, ...others], source: { cause } };
  };
  const [only] = outbox === null ? [] : snapshot.outboxes;
  const shown = useSteadyRows(query, only?.page?.events, round);
  const { root, current } = useListKeys({
    intervention: list.intervention,
    events: shown.rows,
    ticks: only === undefined ? ticks : ticksOf(only.outbox.id),
    outbox: only?.outbox ?? null,
  });

  // Sections stay, in the order in which they came, also when their last row has gone.
  const come = snapshot.outboxes
    .filter((letters) => !isQuiet(letters))
    .toSorted(mostFirst)
    .map((letters) => letters.outbox.id);
  const [order, setOrder] = useState(come);
  if (come.some((id) => !order.includes(id))) setOrder([...new Set([...order, ...come])]);
  const quiet = snapshot.outboxes.filter((letters) => !order.includes(letters.outbox.id));
  const sectionProps = (letters: DeadLetters) => ({
    letters,
    ticks: ticksOf(letters.outbox.id),
    dimmed: list.dimmed,
    filtered: countFilters(filter) > 0,
  });
  const newest = Math.max(0, ...snapshot.outboxes.map(({ searched }) => (searched?.complete === false ? searched.rows : 0)));
  const counted = snapshot.outboxes.flatMap(({ searched }) => searched?.round?.endedAt ?? []).sort()[0];
  const causesEnd = (counted !== undefined || snapshot.otherEvents > 0) && (
    <p className={classes.dead}>
      {counted !== undefined && t.rich('deadLetters.counted', { at: () => <RelativeTime at={counted} /> })}{' '}
      {snapshot.otherEvents > 0 && t('deadLetters.others', { count: snapshot.otherEvents })}
    </p>
  );
  const causes = snapshot.groups.length > 0 && (
    <>
      <Causes
        groups={snapshot.groups}
        more={snapshot.moreGroups}
        first={FIRST_CAUSES}
        nameOf={only === undefined ? (id) => infos.get(id)?.name ?? id : null}
        {...(mayOperate && { planOf })}
        details={{
          read: readCause,
          note: mayOperate ? note : null,
          keepsError: (id) => infos.get(id)?.capabilities.fields.error !== false,
          onChanged: list.refresh,
        }}
      />
      {causesEnd}
    </>
  );
  return (
    <EventListScreen
      list={list}
      root={root}
      sections
      title={only === undefined ? t('deadLetters.title') : t('deadLetters.of', { outbox: only.outbox.name })}
      tools={
        <FilterBar
          outbox={null}
          list={list}
          hidden={hiddenFilters}
          types={[...new Set(snapshot.groups.flatMap(({ type }) => type ?? []))]}
          before={<OrderControl list={list} />}
        />
      }
      page={only?.page ?? null}
      ticked={snapshot.outboxes.find((letters) => letters.outbox.id === tickedIn)?.outbox}
      whole={deadQuery(list.filter)}
    >
      <FilterMessages errors={errors} />
      {only === undefined ? (
        <>
          {causes || causesEnd}
          {newest > 0 && <p className={classes.dead}>{t('deadLetters.ofNewestEach', { rows: newest })}</p>}
          {order.map((id) => {
            const letters = snapshot.outboxes.find(({ outbox: { id: own } }) => own === id);
            return letters && <SteadySection key={id} {...sectionProps(letters)} list={query} round={round} />;
          })}
          <QuietOutboxes letters={quiet} />
        </>
      ) : (
        <DeadLettersSection {...sectionProps(only)} shown={shown} alone={{ current, causes: causes || null }} />
      )}
    </EventListScreen>
  );
}

const FIRST_CAUSES = 10;

const deadQuery = (filter: EventFilter): string => serialiseEventFilter({ ...filter, state: ['dead'] }).toString();

/** It has no dead letters, or cannot have any. */
const isQuiet = ({ outbox, dead, page, problem }: DeadLetters): boolean =>
  problem === null && (!outbox.capabilities.states.dead.available || (dead.count === 0 && (page?.events.length ?? 0) === 0));

/** Outboxes without dead letters in one line, and in another those that cannot have any, with the reason. */
function QuietOutboxes({ letters }: { letters: readonly DeadLetters[] }) {
  const t = useTranslations();
  const reasonOf = ({ outbox: { capabilities } }: DeadLetters): string => {
    const { dead } = capabilities.states;
    return dead.available ? '' : t(`unavailable.${dead.because}`);
  };
  return [...groupBy(letters, reasonOf)].map(([why, quiet]) => {
    const outboxes = quiet.map(({ outbox }) => outbox.name).join(', ');
    return (
      <p key={why} className={classes.quiet} title={outboxes}>
        {t(why === '' ? 'deadLetters.noneIn' : 'deadLetters.unavailableIn', { count: quiet.length, outboxes, why })}
      </p>
    );
  });
}

/** Most dead letters first, unreadable outboxes before empty ones, the rest as configured. */
function mostFirst(a: DeadLetters, b: DeadLetters): number {
  const weight = ({ dead, problem }: DeadLetters) => (dead.count ?? 0) + (problem === null ? 0 : 0.5);
  return weight(b) - weight(a);
}
