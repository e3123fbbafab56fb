'use client';

import { Button } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { useCallback, useEffect, useRef, useState } from 'react';
import { groupFilter } from '@/lib/shared/lists/dead-letter-groups';
import { countFilters, serialiseEventFilter, type FilterErrors, type FilterField } from '@/lib/shared/lists/event-filter';
import type { DeadLetterGroup, DeadLetters, EventFilter, FrozenEvent, OutboxEvent } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';
import { TextChip, TypeChip } from '../events/filter-chips';
import { FilterMessages } from '../events/filter-messages';
import { ListFooter } from '../events/list-footer';
import { ListOperations } from '../events/list-operations';
import { OrderControl } from '../events/order-control';
import { useListOperations } from '../events/use-list-operations';
import { useListKeys } from '../events/use-list-keys';
import { useListUrl } from '../events/use-list-url';
import type { Extent, Freeze } from '../events/take-list';
import { useSteadyRows } from '../events/use-steady-rows';
import type { Ticks } from '../events/use-ticks';
import { useWholeList } from '../events/use-whole-list';
import { usePolledSnapshot } from '../frame/use-polled-snapshot';
import type { InterventionActions } from '../interventions/actions';
import { DeadLettersSection, SteadySection } from './dead-letters-section';
import type { DeadLettersSnapshot } from './snapshots';
import classes from './dead-letters.module.css';

export interface DeadLettersScreenProps {
  /** The outbox in view; null for all of them. */
  outbox: string | null;
  filter: EventFilter;
  errors: FilterErrors;
  /** Filters that are not the viewer's to use. */
  hiddenFilters: readonly FilterField[];
  cursor: string | null;
  mayOperate: boolean;
  initial: DeadLettersSnapshot;
  /** Reads the dead letters of this filter and cursor, both written as a query string. */
  load: (input: { outbox: string | null; query: string }) => Promise<ActionResult<DeadLettersSnapshot>>;
  /** Reads a stretch of these dead letters, to be acted on together. */
  freeze: Freeze;
  actions: InterventionActions;
}

const NONE: OutboxEvent[] = [];

/** Dead letters of one outbox or of all: counts by error, rows, and what can be done with the ticked ones. */
export function DeadLettersScreen(props: DeadLettersScreenProps) {
  const { outbox, filter, cursor, mayOperate, initial, load, freeze, actions } = props;
  const t = useTranslations();
  const url = useListUrl(filter, cursor, null);
  const params = serialiseEventFilter(filter);
  const list = params.toString();
  if (cursor !== null) params.set('cursor', cursor);
  const query = params.toString();
  const operations = useListOperations();
  const { ticks, intervention, round, paused } = operations;
  const { snapshot, failing, refresh } = usePolledSnapshot<DeadLettersSnapshot>({
    key: ['dead-letters', outbox, query],
    action: () => load({ outbox, query }),
    initial,
    paused,
  });
  // An intervention is of one outbox, so ticks are too: the first tick elsewhere starts over there.
  const [tickedIn, setTickedIn] = useState<string | null>(null);
  const { fill, leaveList } = ticks;
  // What was said of one list is not said over another.
  useEffect(() => leaveList, [leaveList, list]);
  const onTaken = useCallback(
    (id: string, events: FrozenEvent[], extent: Extent) => {
      setTickedIn(id);
      fill(events, extent);
    },
    [fill],
  );
  const { taking, take, cancel } = useWholeList(freeze, list, onTaken);
  // What was said of a reading has been heard by whoever ticks on; one that goes on is ended by its own button.
  const tickIn = (id: string): void => {
    if (taking?.phase !== 'reading') cancel();
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
    void take({
      outbox: group.outbox,
      query: serialiseEventFilter(groupFilter(group)).toString(),
      of: { type: group.type, error: group.error },
    });
  const root = useRef<HTMLDivElement>(null);
  const [only] = outbox === null ? [] : snapshot.outboxes;
  const shown = useSteadyRows(query, only?.page?.events ?? NONE, round);
  const keys = useListKeys({
    root,
    events: shown.rows,
    ticks: only === undefined ? ticks : ticksOf(only.outbox.id),
    outbox: only?.outbox ?? null,
    mayOperate,
    intervention,
  });

  const marked = snapshot.outboxes.find((letters) => letters.outbox.id === tickedIn);
  const filtered = countFilters(filter) > 0;
  // The order of the first reading stays: a section that overtakes another must not jump past it.
  const [order] = useState(() => [...initial.outboxes].sort(mostFirst).map((letters) => letters.outbox.id));
  const inOrder = [...snapshot.outboxes].sort((a, b) => order.indexOf(a.outbox.id) - order.indexOf(b.outbox.id));
  const sectionProps = (letters: DeadLetters) => ({
    letters,
    ticks: ticksOf(letters.outbox.id),
    mayOperate,
    dimmed: url.pending || failing !== null,
    filtered,
    onTickGroup: tickGroup,
  });
  return (
    <div className={classes.screen} ref={root}>
      <header className={classes.header}>
        <h1 className={classes.title}>{only === undefined ? t('deadLetters.title') : t('deadLetters.of', { outbox: only.outbox.name })}</h1>
        <Tools filter={filter} hidden={props.hiddenFilters} outboxes={snapshot.outboxes} onFilter={url.setFilter} />
      </header>
      <FilterMessages errors={props.errors} />
      {only === undefined ? (
        inOrder.map((letters) => (
          <SteadySection key={letters.outbox.id} {...sectionProps(letters)} list={query} round={round} current={-1} overview />
        ))
      ) : (
        <DeadLettersSection {...sectionProps(only)} shown={shown} current={keys.current} overview={false} />
      )}
      {only?.page != null && (
        <ListFooter page={only.page} order={filter.order ?? 'newest'} turned={cursor !== null} pending={url.pending} onTurn={url.turnTo} />
      )}
      <ListOperations
        state={operations}
        outbox={marked?.outbox}
        mayOperate={mayOperate}
        actions={actions}
        whole={{
          taking,
          begin: () => tickedIn !== null && void take({ outbox: tickedIn, query: list, of: null }),
          cancel,
        }}
        refresh={refresh}
      />
    </div>
  );
}

/** Where most is dead comes first, what cannot be read before what has nothing, the rest as configured. */
function mostFirst(a: DeadLetters, b: DeadLetters): number {
  const weight = ({ dead, problem }: DeadLetters) => (dead.count ?? 0) + (problem === null ? 0 : 0.5);
  return weight(b) - weight(a);
}

interface ToolsProps {
  filter: EventFilter;
  hidden: readonly FilterField[];
  outboxes: readonly DeadLetters[];
  onFilter: (filter: EventFilter) => void;
}

function Tools({ filter, hidden, outboxes, onFilter }: ToolsProps) {
  const t = useTranslations('events');
  const types = [...new Set(outboxes.flatMap(({ groups }) => groups.flatMap(({ type }) => (type === null ? [] : [type]))))];
  const change = (part: Partial<EventFilter>) => onFilter({ ...filter, ...part });
  return (
    <div className={classes.tools} role="search" aria-label={t('filter.label')}>
      <OrderControl filter={filter} onFilter={onFilter} />
      {!hidden.includes('type') && <TypeChip suggestions={types} filter={filter} onChange={change} />}
      {(['error', 'cause'] as const)
        .filter((field) => !hidden.includes(field))
        .map((field) => (
          <TextChip key={field} field={field} filter={filter} onChange={change} />
        ))}
      {countFilters(filter) > 0 && (
        <Button variant="subtle" size="compact-sm" onClick={() => onFilter({ order: filter.order })}>
          {t('filter.clearAll')}
        </Button>
      )}
    </div>
  );
}
