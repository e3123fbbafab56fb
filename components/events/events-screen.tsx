'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import { IconColumns3 } from '@tabler/icons-react';
import type { EventsSnapshot, OutboxInfo, Capabilities } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';
import { ButtonPopover, Checkbox } from '../frame/controls';
import { useShortcuts } from '../frame/shortcuts';
import { useSteadyRows } from '../lists/steady-rows';
import { ReadOnlyNote } from '../frame/note';
import { savePreference } from '../frame/preferences';
import { type Column, COLUMNS, COLUMNS_COOKIE, columnAvailable } from './columns';
import { type EventListProps, EventListScreen, useEventList, useListKeys, ListNotice } from './event-list';
import { EventsTable } from './events-table';
import { FilterBar, OrderControl, SearchBox } from './filter-bar';
import classes from './event-list.module.css';
import filters from '../lists/filters.module.css';

interface EventsScreenProps extends EventListProps<EventsSnapshot> {
  outbox: OutboxInfo;
  columns: Column[];
  columnsInUrl: string | null;
  types: string[];
  load: (input: { outbox: string; query: string }) => Promise<ActionResult<EventsSnapshot>>;
}

export function EventsScreen({ outbox, filter, errors, hiddenFilters, cursor, initial, load, ...props }: EventsScreenProps) {
  const t = useTranslations();
  const [columns, setColumns] = useState(props.columns);
  const [columnsInUrl, setColumnsInUrl] = useState(props.columnsInUrl);
  const list = useEventList<EventsSnapshot>({
    name: ['events', outbox.id],
    filter,
    cursor,
    columns: columnsInUrl,
    initial,
    load: (query) => load({ outbox: outbox.id, query }),
  });
  const { page, blocking } = list.snapshot;
  const shown = useSteadyRows(list.query, page?.events, list.round);
  const events = shown.rows;

  const { clear } = list.ticks;
  useEffect(() => clear, [clear, list.filterQuery]);

  const { root, current } = useListKeys({ intervention: list.intervention, events, ticks: list.ticks, outbox });
  const searchRef = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: '/', label: t('events.keys.filter'), run: () => searchRef.current?.focus() }]);

  const chooseColumns = (next: Column[]) => {
    const text = next.join(',');
    setColumns(next);
    setColumnsInUrl(text);
    list.setColumns(text);
  };
  return (
    <EventListScreen
      list={list}
      root={root}
      title={t.rich('events.title', { outbox: () => <span className={classes.outbox}>{outbox.name}</span> })}
      tools={
        <div className={classes.tools}>
          <OrderControl list={list} />
          <ColumnsMenu capabilities={outbox.capabilities} chosen={columns} onChange={chooseColumns} />
        </div>
      }
      page={events.length > 0 || cursor !== null ? page : null}
      ticked={outbox}
      whole={list.filterQuery}
    >
      <ReadOnlyNote outbox={outbox} />
      <FilterBar
        outbox={outbox}
        list={list}
        errors={errors}
        types={[...props.types, ...events.flatMap(({ type }) => type ?? [])]}
        hidden={hiddenFilters}
        before={!hiddenFilters.includes('q') && <SearchBox key={filter.q ?? ''} list={list} inputRef={searchRef} />}
      />
      <EventsTable
        outbox={outbox}
        shown={shown}
        columns={columns}
        ticks={list.ticks}
        current={current}
        dimmed={list.dimmed}
        blocking={blocking}
        caption={t('events.tableLabel', { outbox: outbox.name })}
      >
        {events.length === 0 && <ListNotice outbox={outbox} list={list} />}
      </EventsTable>
    </EventListScreen>
  );
}

interface ColumnsMenuProps {
  capabilities: Capabilities;
  chosen: readonly Column[];
  /** The screen applies the choice and puts it into the URL; a cookie keeps it for the next list. */
  onChange: (columns: Column[]) => void;
}

function ColumnsMenu({ capabilities, chosen, onChange }: ColumnsMenuProps) {
  const t = useTranslations();
  const choose = (column: Column) => {
    const next = COLUMNS.filter((other) => (other === column ? !chosen.includes(other) : chosen.includes(other)));
    if (next.length === 0) return;
    savePreference(COLUMNS_COOKIE, next.join(','));
    onChange(next);
  };
  return (
    <ButtonPopover
      label={t('events.chooseColumns')}
      leftSection={<IconColumns3 size={14} aria-hidden />}
      size="xs"
      side="end"
      width={272}
      className={filters.editor}
    >
      {() => (
        <div className={filters.form}>
          {COLUMNS.map((column) => {
            const available = columnAvailable(column, capabilities);
            return (
              <Checkbox
                key={column}
                checked={chosen.includes(column)}
                disabled={!available}
                onChange={() => choose(column)}
                label={t(`events.columns.${column}`)}
                description={available ? undefined : t('unavailable.not_in_schema')}
              />
            );
          })}
        </div>
      )}
    </ButtonPopover>
  );
}
