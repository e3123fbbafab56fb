'use client';

import { Fragment, useDeferredValue, useMemo, useRef, useState, useEffect } from 'react';
import { useSearchParams } from 'next/navigation';
import { Title } from '@mantine/core';
import { IconUsers } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { ExaminedFleet } from '@/lib/shared/doctor';
import type { FleetLine } from '@/lib/shared/figures/fleet';
import type { ActionResult } from '@/lib/shared/problems';
import { AuditLacks } from '../audit/audit-lacks';
import { TableSigns } from '../figures/mark';
import { Age } from '../figures/format';
import { useOutboxName } from '../frame/console';
import { Note, TableHead } from '../frame/note';
import { TextButton, TextLink } from '../frame/controls';
import { useShortcuts } from '../frame/shortcuts';
import { usePolledSnapshot } from '../frame/live';
import { UnreachableRow, FIGURE_COLUMNS, FleetRow } from './fleet-row';
import { FleetBar } from './fleet-bar';
import { News } from './fleet-news';
import { FleetDatabases } from './fleet-databases';
import { fleetQuery, matchesFleetFilter, readFleetFilter, type FleetFilter, foldQuietLines } from './fleet-lines';
import classes from './fleet.module.css';
import lines from './lines.module.css';

interface FleetScreenProps {
  initial: ExaminedFleet;
  action: (input: Record<string, never>) => Promise<ActionResult<ExaminedFleet>>;
  /** Where outboxes are detected; null if the viewer may not. */
  findHref: string | null;
}

const COLUMNS = ['outbox', 'verdict', ...FIGURE_COLUMNS, 'database'] as const;

/** With more outboxes than this the lines are closer together, so that a healthy fleet of forty fits one screen. */
const COMFORTABLE_ROWS = 14;

/** All outboxes, worst first, one line each; cards on a phone. */
export function FleetScreen({ initial, action, findHref }: FleetScreenProps) {
  const words = useTranslations('fleet');
  const { snapshot, everyMs } = usePolledSnapshot({
    key: ['fleet'],
    action: () => action({}),
    initial,
    everyMs: (fleet) => fleet.everyMs,
  });
  const filter = readFleetFilter(useSearchParams());
  // Without a request: the URL is for sharing, the figures are here already.
  const setFilter = (changed: FleetFilter) => {
    const query = fleetQuery(changed);
    window.history.replaceState(null, '', query === '' ? window.location.pathname : `?${query}`);
  };
  // Typed text is shown at once, the lines follow.
  const query = useDeferredValue(fleetQuery(filter));
  // A new reading draws its lines between frames, so that scrolling goes on.
  const entries = useDeferredValue(snapshot.entries);
  const shown = useMemo(() => {
    const wanted = readFleetFilter(new URLSearchParams(query));
    return entries.filter((entry) => matchesFleetFilter(entry, wanted));
  }, [entries, query]);
  const [opened, setOpened] = useState<readonly string[]>([]);
  const items = useMemo(() => foldQuietLines(shown), [shown]);
  const drawn = useShownLines(items.length);
  const search = useRef<HTMLInputElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const move = (by: 1 | -1) => {
    const links = [...(body.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const here = links.findIndex((link) => link === document.activeElement);
    const next = here === -1 ? (by === 1 ? 0 : links.length - 1) : Math.min(Math.max(here + by, 0), links.length - 1);
    links[next]?.focus();
  };
  useShortcuts([
    { keys: 'j', label: words('keys.next'), run: () => move(1) },
    { keys: 'k', label: words('keys.previous'), run: () => move(-1) },
    { keys: 'Enter', label: words('keys.open') },
    { keys: '/', label: words('keys.filter'), run: () => search.current?.focus() },
  ]);

  const needing = snapshot.entries.filter(({ unread, summary }) => !unread && summary.diagnosis.verdict !== 'healthy').length;
  const unread = snapshot.entries.filter((entry) => entry.unread).length;
  const row = (line: FleetLine) => (
    <FleetRow
      key={line.outbox.id}
      line={line}
      everyMs={everyMs}
      doctor={snapshot.doctor[line.outbox.id] ?? null}
      causes={snapshot.news.causesOf[line.outbox.id] ?? null}
    />
  );
  // On a phone each figure has its name beside it; set once here, not in every cell.
  const labels = Object.fromEntries(COLUMNS.map((column) => [`--label-${column}`, JSON.stringify(words(`columns.${column}`))]));
  const many = snapshot.entries.length > COMFORTABLE_ROWS;
  return (
    <>
      <header className={classes.head}>
        <Title order={1}>{words('needYou', { needing, total: snapshot.entries.length, unread })}</Title>
        <p className={classes.asOf}>
          {findHref !== null && <TextLink href={findHref} size="sm" className={classes.find} label={words('find')} />}
          <Age asOf={snapshot.asOf} intervalMs={everyMs} />
        </p>
      </header>
      <TableSigns />
      <AuditLacks lacks={snapshot.lacks} />
      <ApprovalsBlocked outboxes={snapshot.approvalsBlocked ?? []} />
      {snapshot.databases.length > 0 && <FleetDatabases databases={snapshot.databases} onChoose={(database) => setFilter({ database })} />}
      {(many || query !== '') && <FleetBar snapshot={snapshot} filter={filter} shown={shown.length} search={search} onChange={setFilter} />}
      {snapshot.entries.length === 0 ? (
        <div className={classes.empty}>
          <p>{words('empty')}</p>
          {findHref !== null && <TextButton href={findHref} label={words('find')} />}
        </div>
      ) : shown.length === 0 ? (
        <p className={classes.empty}>{words('filter.nothing')}</p>
      ) : (
        // Explicit roles: on a phone the table is laid out as cards, and browsers then drop them.
        <table className={`${lines.lines} ${classes.table}`} role="table" data-dense={many} style={labels}>
          <caption className={classes.caption}>{words('caption')}</caption>
          <TableHead asCards columns={COLUMNS.map((column) => ({ 'data-column': column, children: words(`columns.${column}`) }))} />
          <tbody role="rowgroup" ref={body}>
            {items.slice(0, drawn).map((item) => {
              if ('line' in item) return row(item.line);
              const { away } = item;
              const open = opened.includes(away);
              return (
                <Fragment key={`away ${away}`}>
                  <UnreachableRow
                    database={away}
                    lines={item.lines}
                    open={open}
                    onToggle={() => setOpened(open ? opened.filter((one) => one !== away) : [...opened, away])}
                  />
                  {open && item.lines.map(row)}
                </Fragment>
              );
            })}
            {/* Room for the lines to come, so that the browser can restore the scroll position. */}
            {drawn < items.length && <tr aria-hidden className={classes.toCome} style={{ ['--lines' as string]: items.length - drawn }} />}
          </tbody>
        </table>
      )}
      <News news={snapshot.news} entries={snapshot.entries} />
    </>
  );
}

/** Rules that ask for a second person where nobody may be one. */
function ApprovalsBlocked({ outboxes }: { outboxes: readonly string[] }) {
  const t = useTranslations('plans.approvals');
  const outboxName = useOutboxName();
  if (outboxes.length === 0) return null;
  return (
    <div className={classes.blocked}>
      <Note icon={<IconUsers size={16} aria-hidden />} dashed>
        {t('blocked', { outboxes: outboxes.map(outboxName).join(', ') })}
      </Note>
    </div>
  );
}

/** Lines rendered with the page: more than any screen shows at once. */
const FIRST_LINES = 24;
/** Lines added at a time: a frame of work. */
const MORE_LINES = 40;

/** How many of `count` lines to render: the first ones at once, the others in steps, so that the page responds meanwhile. */
function useShownLines(count: number): number {
  const [shown, setShown] = useState(FIRST_LINES);
  useEffect(() => {
    if (shown >= count) return;
    // Not a transition: the screen's clock would interrupt and restart it every second.
    const timer = setTimeout(() => setShown((before) => before + MORE_LINES));
    return () => clearTimeout(timer);
  }, [shown, count]);
  return Math.min(shown, count);
}
