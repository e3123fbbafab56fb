'use client';

import { useRef } from 'react';
import Link from 'next/link';
import { Anchor, Button, Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { ExaminedFleet } from '@/lib/shared/doctor';
import type { ActionResult } from '@/lib/shared/problems';
import { Age, useIsStale } from '../figures/time';
import { useShortcuts } from '../frame/shortcuts';
import { POLL_INTERVAL_MS, usePolledSnapshot } from '../frame/use-polled-snapshot';
import { FleetRow } from './fleet-row';
import classes from './fleet.module.css';

export interface FleetScreenProps {
  initial: ExaminedFleet;
  action: (input: Record<string, never>) => Promise<ActionResult<ExaminedFleet>>;
  /** Where outboxes are found, for those who may; null for everybody else. */
  findHref: string | null;
}

const COLUMNS = ['outbox', 'verdict', 'depth', 'waiting', 'oldest', 'p95', 'dead', 'lastPublished', 'database'] as const;

/** With more outboxes than this the lines move together, so that a healthy fleet of forty fits one screen. */
const COMFORTABLE_ROWS = 14;

/** All outboxes, worst first, one line each; cards on a phone. */
export function FleetScreen({ initial, action, findHref }: FleetScreenProps) {
  const words = useTranslations('fleet');
  const { snapshot, asOf } = usePolledSnapshot({ key: ['fleet'], action: () => action({}), initial });
  const old = useIsStale(asOf, POLL_INTERVAL_MS);
  const body = useRef<HTMLTableSectionElement>(null);
  const move = (by: 1 | -1) => {
    const links = [...(body.current?.querySelectorAll<HTMLAnchorElement>('a[data-row]') ?? [])];
    const here = links.findIndex((link) => link === document.activeElement);
    const next = here === -1 ? (by === 1 ? 0 : links.length - 1) : Math.min(Math.max(here + by, 0), links.length - 1);
    links[next]?.focus();
  };
  useShortcuts([
    { keys: 'j', label: words('keys.next'), run: () => move(1) },
    { keys: 'k', label: words('keys.previous'), run: () => move(-1) },
    { keys: 'Enter', label: words('keys.open') },
  ]);

  const needing = snapshot.entries.filter(({ summary }) => summary.diagnosis.verdict !== 'healthy').length;
  return (
    <>
      <header className={classes.head}>
        <Title order={1}>{words('needYou', { needing, total: snapshot.entries.length })}</Title>
        <p className={classes.asOf}>
          {findHref !== null && (
            <Anchor component={Link} href={findHref} size="sm" className={classes.find}>
              {words('find')}
            </Anchor>
          )}
          {asOf !== null && <Age asOf={asOf} intervalMs={POLL_INTERVAL_MS} />}
        </p>
      </header>
      {snapshot.entries.length === 0 ? (
        <div className={classes.empty}>
          <p>{words('empty')}</p>
          {findHref !== null && (
            <Button component={Link} href={findHref}>
              {words('emptyFind')}
            </Button>
          )}
        </div>
      ) : (
        // The roles are spelled out because on a phone the table is laid out as cards, and browsers then drop them.
        <table className={classes.table} role="table" data-dense={snapshot.entries.length > COMFORTABLE_ROWS}>
          <caption className={classes.caption}>{words('caption')}</caption>
          <thead role="rowgroup">
            <tr role="row">
              {COLUMNS.map((column) => (
                <th key={column} role="columnheader" scope="col" data-column={column}>
                  {words(`columns.${column}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup" ref={body}>
            {snapshot.entries.map((entry) => (
              <FleetRow key={entry.outbox.id} entry={entry} doctor={snapshot.doctor[entry.outbox.id] ?? null} old={old} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
