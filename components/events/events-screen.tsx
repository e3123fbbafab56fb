'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import { serialiseEventFilter, type FilterErrors, type FilterField } from '@/lib/shared/lists/event-filter';
import type { EventFilter, OutboxEvent, OutboxInfo } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';
import { useShortcuts } from '../frame/shortcuts';
import { usePolledSnapshot } from '../frame/use-polled-snapshot';
import type { InterventionActions } from '../interventions/actions';
import { serialiseColumns, type Column } from './columns';
import { ColumnsMenu } from './columns-menu';
import { EventsTable } from './events-table';
import type { EventsSnapshot } from './events-snapshot';
import { FilterBar } from './filter-bar';
import { ListFooter } from './list-footer';
import { ListNotice } from './list-notice';
import { ListOperations } from './list-operations';
import { OrderControl } from './order-control';
import { useListOperations } from './use-list-operations';
import { useListUrl } from './use-list-url';
import { useListKeys } from './use-list-keys';
import { useSteadyRows } from './use-steady-rows';
import { ReadOnlyNote } from '../proof/read-only-note';
import classes from './events-screen.module.css';

export interface EventsScreenProps {
  outbox: OutboxInfo;
  filter: EventFilter;
  errors: FilterErrors;
  /** Filters that are not the viewer's to use. */
  hiddenFilters: readonly FilterField[];
  cursor: string | null;
  columns: Column[];
  columnsInUrl: string | null;
  /** Types seen lately, offered in the type filter. */
  types: string[];
  mayOperate: boolean;
  initial: EventsSnapshot;
  /** Reads the page of this filter and cursor, both written as a query string. */
  load: (input: { outbox: string; query: string }) => Promise<ActionResult<EventsSnapshot>>;
  actions: InterventionActions;
}

const NO_EVENTS: OutboxEvent[] = [];

/** The events of one outbox: filter, table, ticks and what can be done with them. */
export function EventsScreen(props: EventsScreenProps) {
  const { outbox, filter, errors, hiddenFilters, cursor, mayOperate, initial, load, actions } = props;
  const t = useTranslations();
  const [columns, setColumns] = useState(props.columns);
  const [columnsInUrl, setColumnsInUrl] = useState(props.columnsInUrl);
  const url = useListUrl(filter, cursor, columnsInUrl);
  const params = serialiseEventFilter(filter);
  if (cursor !== null) params.set('cursor', cursor);
  const query = params.toString();

  const operations = useListOperations();
  const { ticks, intervention, round, paused } = operations;
  const { snapshot, failing, refresh } = usePolledSnapshot<EventsSnapshot>({
    key: ['events', outbox.id, query],
    action: () => load({ outbox: outbox.id, query }),
    initial,
    paused,
  });
  const shown = useSteadyRows(query, snapshot.page?.events ?? NO_EVENTS, round);
  const events = shown.rows;

  const { clear } = ticks;
  const filterKey = serialiseEventFilter(filter).toString();
  useEffect(() => clear, [clear, filterKey]);

  const root = useRef<HTMLDivElement>(null);
  const { current } = useListKeys({ root, events, ticks, outbox, mayOperate, intervention });
  const searchRef = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: '/', label: t('events.keys.filter'), run: () => searchRef.current?.focus() }]);

  const types = [...new Set([...props.types, ...events.flatMap(({ type }) => (type === null ? [] : [type]))])];
  const order = filter.order ?? 'newest';
  return (
    <div className={classes.screen} ref={root}>
      <header className={classes.header}>
        <h1 className={classes.title}>{t.rich('events.title', { outbox: () => <span className={classes.outbox}>{outbox.name}</span> })}</h1>
        <div className={classes.tools}>
          <OrderControl filter={filter} onFilter={url.setFilter} />
          <ColumnsMenu
            capabilities={outbox.capabilities}
            chosen={columns}
            onChange={(next) => {
              const text = serialiseColumns(next);
              setColumns(next);
              setColumnsInUrl(text);
              url.setColumns(text);
            }}
          />
        </div>
      </header>
      <ReadOnlyNote outbox={outbox} />
      <FilterBar
        outbox={outbox}
        filter={filter}
        errors={errors}
        types={types}
        hidden={hiddenFilters}
        onChange={url.setFilter}
        searchRef={searchRef}
      />
      <EventsTable
        outbox={outbox}
        shown={shown}
        columns={columns}
        ticks={ticks}
        current={current}
        dimmed={url.pending || failing !== null}
        tickable={mayOperate && outbox.writable}
        caption={t('events.tableLabel', { outbox: outbox.name })}
      >
        {events.length === 0 && (
          <ListNotice
            outbox={outbox}
            filter={filter}
            snapshot={snapshot}
            onFilter={url.setFilter}
            onTurn={url.turnTo}
            onRetry={() => void refresh()}
            turned={cursor !== null}
          />
        )}
      </EventsTable>
      {snapshot.page !== null && (events.length > 0 || cursor !== null) && (
        <ListFooter page={snapshot.page} order={order} turned={cursor !== null} pending={url.pending} onTurn={url.turnTo} />
      )}
      <ListOperations state={operations} outbox={outbox} mayOperate={mayOperate} actions={actions} refresh={refresh} />
    </div>
  );
}
