'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { groupFilter } from '@/lib/shared/lists/dead-letter-groups';
import { countFilters, serialiseEventFilter, type FilterErrors, type FilterField } from '@/lib/shared/lists/event-filter';
import type { DeadLettersSnapshot, DeadLetterGroup, DeadLetters, EventFilter } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';
import { EventListScreen, useEventList, useListKeys } from '../events/event-list';
import { FilterBar, FilterMessages, OrderControl } from '../events/filter-bar';
import { type Freeze, useWholeList, type Ticks } from '../events/ticks';
import { useSteadyRows } from '../lists/steady-rows';
import { DeadLettersSection, SteadySection } from './dead-letters-section';

interface DeadLettersScreenProps {
  /** The outbox shown; null for all. */
  outbox: string | null;
  filter: EventFilter;
  errors: FilterErrors;
  hiddenFilters: readonly FilterField[];
  cursor: string | null;
  initial: DeadLettersSnapshot;
  load: (input: { outbox: string | null; query: string }) => Promise<ActionResult<DeadLettersSnapshot>>;
  freeze: Freeze;
}

export function DeadLettersScreen({ outbox, filter, errors, hiddenFilters, cursor, initial, load, freeze }: DeadLettersScreenProps) {
  const t = useTranslations();
  const list = useEventList<DeadLettersSnapshot>({
    name: ['dead-letters', outbox],
    filter,
    cursor,
    initial,
    load: (query) => load({ outbox, query }),
  });
  const { snapshot, ticks, query, filterQuery, round } = list;
  // An intervention is on one outbox, so ticks are too: the first tick in another starts over there.
  const [tickedIn, setTickedIn] = useState<string | null>(null);
  const { leaveList } = ticks;
  // How much of one list is ticked says nothing about another.
  useEffect(() => leaveList, [leaveList, filterQuery]);
  const whole = useWholeList(freeze, filterQuery, (id, events, extent) => {
    setTickedIn(id);
    ticks.fill(events, extent);
  });
  // A tick closes the result of a reading; one still under way is ended by its own button.
  const tickIn = (id: string): void => {
    if (whole.taking?.phase !== 'reading') whole.cancel();
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
  const tickGroup = (group: DeadLetterGroup) =>
    whole.take({
      outbox: group.outbox,
      query: serialiseEventFilter(groupFilter(group)).toString(),
      of: { type: group.type, error: group.error },
    });
  const [only] = outbox === null ? [] : snapshot.outboxes;
  const shown = useSteadyRows(query, only?.page?.events, round);
  const { root, current } = useListKeys({
    intervention: list.intervention,
    events: shown.rows,
    ticks: only === undefined ? ticks : ticksOf(only.outbox.id),
    outbox: only?.outbox ?? null,
  });

  // Keeps the order of the first reading, so that sections do not change places.
  const [order] = useState(() => [...initial.outboxes].sort(mostFirst).map((letters) => letters.outbox.id));
  const inOrder = [...snapshot.outboxes].sort((a, b) => order.indexOf(a.outbox.id) - order.indexOf(b.outbox.id));
  const sectionProps = (letters: DeadLetters) => ({
    letters,
    ticks: ticksOf(letters.outbox.id),
    dimmed: list.dimmed,
    filtered: countFilters(filter) > 0,
    onTickGroup: tickGroup,
  });
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
          types={snapshot.outboxes.flatMap(({ groups }) => groups.flatMap(({ type }) => type ?? []))}
          before={<OrderControl list={list} />}
        />
      }
      page={only?.page ?? null}
      ticked={snapshot.outboxes.find((letters) => letters.outbox.id === tickedIn)?.outbox}
      whole={{
        ...whole,
        begin: () => {
          if (tickedIn !== null) whole.take({ outbox: tickedIn, query: filterQuery, of: null });
        },
      }}
    >
      <FilterMessages errors={errors} />
      {only === undefined ? (
        inOrder.map((letters) => (
          <SteadySection key={letters.outbox.id} {...sectionProps(letters)} list={query} round={round} current={-1} overview />
        ))
      ) : (
        <DeadLettersSection {...sectionProps(only)} shown={shown} current={current} overview={false} />
      )}
    </EventListScreen>
  );
}

/** Most dead letters first, unreadable outboxes before empty ones, the rest as configured. */
function mostFirst(a: DeadLetters, b: DeadLetters): number {
  const weight = ({ dead, problem }: DeadLetters) => (dead.count ?? 0) + (problem === null ? 0 : 0.5);
  return weight(b) - weight(a);
}
