'use client';

import { Button, Checkbox } from '@mantine/core';
import { IconArrowUp } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useCallback, useEffect, useRef, type ReactNode } from 'react';
import type { OutboxEvent, OutboxInfo } from '@/lib/shared/model';
import { tableWidth, type Column } from './columns';
import { EventRow } from './event-row';
import { useMay } from '../frame/console';
import type { ShownRows } from '../lists/steady-rows';
import type { Ticks } from './use-ticks';
import classes from './events-table.module.css';

interface EventsTableProps {
  outbox: OutboxInfo;
  shown: ShownRows;
  columns: readonly Column[];
  ticks: Ticks;
  /** Index of the row the keyboard is on, -1 for none. */
  current: number;
  /** The numbers are old or about to be replaced. */
  dimmed: boolean;
  caption: string;
  /** Shown in place of rows. */
  children?: ReactNode;
}

/** The result table; on a phone the same rows read as cards. Roles are written out because CSS takes them away there. */
export function EventsTable({ outbox, shown, columns, ticks, current, dimmed, caption, children }: EventsTableProps) {
  const t = useTranslations('events');
  const tickable = useMay('event:operate') && outbox.writable;
  const { rows: events, gone, newer, showLatest } = shown;
  const all = events.length > 0 && events.every(({ id }) => ticks.has(id));
  const some = events.some(({ id }) => ticks.has(id));
  // Rows that stay the same are not drawn again, so their handler must not be tied to one reading.
  const latest = useRef(events);
  useEffect(() => {
    latest.current = events;
  });
  const { toggle } = ticks;
  const tick = useCallback((event: OutboxEvent, range: boolean) => toggle(event, range, latest.current), [toggle]);
  return (
    <div>
      {newer + gone.size > 0 && (
        <div className={classes.newer} role="status">
          <Button size="compact-xs" onClick={showLatest} leftSection={<IconArrowUp size={12} aria-hidden />}>
            {newer > 0 ? t('newer', { count: newer }) : t('goneCount', { count: gone.size })}
          </Button>
        </div>
      )}
      <div className={classes.frame} data-dimmed={dimmed || undefined}>
        <table
          role="table"
          className={classes.table}
          aria-label={caption}
          style={{ ['--table-width' as string]: `${String(tableWidth(columns))}px` }}
          data-wide-type={!columns.includes('error') || undefined}
        >
          <thead role="rowgroup">
            <tr role="row">
              {tickable && (
                <th role="columnheader" scope="col" className={classes.tick}>
                  <Checkbox
                    size="xs"
                    checked={all}
                    indeterminate={some && !all}
                    onChange={() => ticks.toggleAll(events)}
                    disabled={events.length === 0}
                    aria-label={t('tickAll', { count: events.length })}
                  />
                </th>
              )}
              <th role="columnheader" scope="col" className={classes.state}>
                {t('columns.state')}
              </th>
              <th role="columnheader" scope="col" className={classes.type}>
                {t('columns.type')}
              </th>
              {columns.map((column) => (
                <th role="columnheader" scope="col" key={column} className={classes[column]}>
                  {t(`columns.${column}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {events.map((event, index) => (
              <EventRow
                key={event.id}
                outbox={outbox.id}
                event={event}
                columns={columns}
                current={index === current}
                ticked={ticks.has(event.id)}
                gone={gone.has(event.id)}
                onTick={tickable ? tick : null}
              />
            ))}
          </tbody>
        </table>
        {children}
      </div>
    </div>
  );
}
