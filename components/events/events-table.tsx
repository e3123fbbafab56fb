import { useTranslations } from 'next-intl';
import { PlainLink } from '../frame/go';
import { memo, type ReactNode, useCallback, useEffect, useRef } from 'react';
import { formatMoney } from '@/lib/shared/text/money';
import type { Count } from '@/lib/shared/figures/measured';
import type { EventsSnapshot, OutboxEvent, OutboxInfo } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import { Attempts, Figure } from '../figures/figure';
import { StateMark } from '../figures/mark';
import { AbsoluteTime, type Format, RelativeTime, useFormat } from '../figures/format';
import { useMay } from '../frame/console';
import { TableHead } from '../frame/note';
import { eventHref } from '../hrefs';
import { LatestButton, type ShownRows } from '../lists/steady-rows';
import { startTrail } from '../lists/trail';
import { type Column, tableWidth } from './columns';
import type { Ticks } from './ticks';
import { Checkbox } from '../frame/controls';
import classes from './events-table.module.css';

interface EventRowProps {
  outbox: string;
  event: OutboxEvent;
  columns: readonly Column[];
  current: boolean;
  ticked: boolean;
  /** Missing from the latest reading; keeps its place until the list is shown anew. */
  gone: boolean;
  /** How many others wait because nothing gets past it; null if none. */
  blocks: Count | null;
  onTick: ((event: OutboxEvent, range: boolean) => void) | null;
}

/** Rows render only if they change: a poll brings fifty new objects with the same values. */
export const EventRow = memo(Row, ({ event: before, ...same }, { event: after, ...props }) => {
  const equal = (Object.keys(same) as (keyof typeof same)[]).every((key) => same[key] === props[key]);
  return equal && JSON.stringify(before) === JSON.stringify(after);
});

function Row({ outbox, event, columns, current, ticked, gone, blocks, onTick }: EventRowProps) {
  const t = useTranslations('events');
  const format = useFormat();
  const label = [event.type, event.aggregateId ?? event.id].filter((part) => part !== null).join(' · ');
  return (
    <tr
      role="row"
      data-current={current || undefined}
      data-ticked={ticked || undefined}
      data-gone={gone || undefined}
      title={gone ? t('gone') : undefined}
      aria-selected={onTick === null ? undefined : ticked}
    >
      {onTick !== null && (
        <td role="cell" className={classes.tick}>
          <Checkbox
            checked={ticked}
            aria-label={t('tick', { event: label })}
            // React reads a checkbox from its click, which has the shift key.
            onChange={(change) => onTick(event, change.nativeEvent instanceof MouseEvent && change.nativeEvent.shiftKey)}
          />
        </td>
      )}
      <td role="cell" className={classes.state}>
        <StateMark state={event.state} label={event.stateLabel} />
      </td>
      <td role="cell" className={classes.type}>
        <PlainLink href={eventHref(outbox, event.id)} data-event={event.id}>
          <bdi>{event.type === null ? t('noType') : visibleText(event.type)}</bdi>
        </PlainLink>
        {blocks !== null && <span className={classes.blocks}>{t('blocks', { count: blocks.count ?? 0, more: blocks.known })}</span>}
      </td>
      {columns.map((column) => (
        <td role="cell" key={column} className={classes[column]} data-column={column}>
          {CELLS[column](event, format)}
        </td>
      ))}
    </tr>
  );
}

const plain = (value: string | null, title: string | null = value): ReactNode =>
  value !== null && <bdi title={title ?? undefined}>{visibleText(value)}</bdi>;

const ago = (at: string | null): ReactNode => at !== null && <RelativeTime at={at} />;

/** For a value inside a document that is too large to read for a list; it may exist. */
const unread = ({ tooLarge }: OutboxEvent): ReactNode => (tooLarge ? <Figure text={null} why="too_large" /> : null);

const CELLS: Record<Column, (event: OutboxEvent, format: Format) => ReactNode> = {
  aggregate: ({ aggregateId, aggregateType }) => plain(aggregateId, aggregateType),
  id: ({ id }) => plain(id),
  age: ({ createdAt }) => ago(createdAt),
  diedAt: ({ diedAt }) => ago(diedAt),
  attempts: (event) => <Attempts event={event} />,
  amount: (event, { locale }) => (event.amount === null ? unread(event) : formatMoney(event.amount, event.currency, locale)),
  createdAt: ({ createdAt }) => createdAt !== null && <AbsoluteTime at={createdAt} />,
  attemptedAt: ({ lastAttemptAt }) => ago(lastAttemptAt),
  publishedAt: ({ publishedAt }) => ago(publishedAt),
  dedupKey: ({ dedupKey }) => plain(dedupKey),
  traceId: (event) => plain(event.traceId) || unread(event),
  error: ({ error }) => plain(error),
};

interface EventsTableProps {
  outbox: OutboxInfo;
  shown: ShownRows;
  columns: readonly Column[];
  ticks: Ticks;
  /** Index of the row with the keyboard focus, -1 for none. */
  current: number;
  dimmed: boolean;
  caption: string;
  blocking?: EventsSnapshot['blocking'];
  children?: ReactNode;
}

/** The result table; cards on a phone. Roles are explicit because that CSS removes them. */
export function EventsTable({ outbox, shown, columns, ticks, current, dimmed, caption, blocking, children }: EventsTableProps) {
  const t = useTranslations('events');
  const tickable = useMay('event:operate') && outbox.writable;
  const { rows: events, gone, newer, showLatest } = shown;
  const all = events.length > 0 && events.every(({ id }) => ticks.has(id));
  const some = events.some(({ id }) => ticks.has(id));
  // Unchanged rows do not render again, so their handler must not belong to one reading.
  const latest = useRef(events);
  useEffect(() => {
    latest.current = events;
  });
  const tickAll = (
    <Checkbox
      checked={all}
      indeterminate={some && !all}
      onChange={() => ticks.toggleAll(events)}
      disabled={events.length === 0}
      aria-label={t('tickAll', { count: events.length })}
    />
  );
  const { toggle } = ticks;
  const tick = useCallback((event: OutboxEvent, range: boolean) => toggle(event, range, latest.current), [toggle]);
  return (
    <div>
      <LatestButton
        className={classes.newer}
        label={newer > 0 ? t('newer', { count: newer }) : gone.size > 0 && t('goneCount', { count: gone.size })}
        onShow={showLatest}
      />
      <div className={classes.frame} data-dimmed={dimmed || undefined}>
        <table
          role="table"
          className={classes.table}
          aria-label={caption}
          style={{ ['--table-width' as string]: `${String(tableWidth(columns))}px` }}
          data-wide-type={!columns.includes('error') || undefined}
        >
          <TableHead
            asCards
            columns={[
              ...(tickable ? [{ className: classes.tick, children: tickAll }] : []),
              ...(['state', 'type', ...columns] as const).map((column) => ({
                className: classes[column],
                children: t(`columns.${column}`),
              })),
            ]}
          />
          <tbody role="rowgroup" onClick={({ target }) => startTrail(target, outbox.id, events)}>
            {events.map((event, index) => (
              <EventRow
                key={event.id}
                outbox={outbox.id}
                event={event}
                columns={columns}
                current={index === current}
                ticked={ticks.has(event.id)}
                gone={gone.has(event.id)}
                blocks={blocking?.id === event.id ? blocking.others : null}
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
