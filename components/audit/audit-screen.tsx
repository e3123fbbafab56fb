'use client';

import { Button } from '@mantine/core';
import { IconArrowUp } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { usePathname, useRouter } from 'next/navigation';
import { useTransition } from 'react';
import { serialiseAuditFilter } from '@/lib/shared/lists/audit-filter';
import type { AuditFilter, AuditPage } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';
import { Notice } from '../events/list-notice';
import { useSteadyRows } from '../events/use-steady-rows';
import { usePolledSnapshot } from '../frame/use-polled-snapshot';
import { AuditFilters } from './audit-filters';
import { AuditLacks } from './audit-lacks';
import { AuditLine } from './audit-line';
import classes from './audit.module.css';

export interface AuditScreenProps {
  filter: AuditFilter;
  cursor: string | null;
  outboxes: { id: string; name: string }[];
  operations: readonly string[];
  initial: AuditPage;
  /** Reads the page of this filter and cursor, both written as a query string. */
  load: (input: { query: string }) => Promise<ActionResult<AuditPage>>;
}

/** Who did what to which event and why, refusals included; newest first. */
export function AuditScreen({ filter, cursor, outboxes, operations, initial, load }: AuditScreenProps) {
  const t = useTranslations('audit');
  const words = useTranslations('events');
  const router = useRouter();
  const pathname = usePathname();
  const [pending, start] = useTransition();
  const params = serialiseAuditFilter(filter);
  if (cursor !== null) params.set('cursor', cursor);
  const query = params.toString();
  const { snapshot, failing } = usePolledSnapshot<AuditPage>({ key: ['audit', query], action: () => load({ query }), initial });

  const go = (next: AuditFilter, at: string | null) => {
    const target = serialiseAuditFilter(next);
    if (at !== null) target.set('cursor', at);
    start(() => router.push(target.size === 0 ? pathname : `${pathname}?${target.toString()}`, { scroll: at !== null }));
  };
  const outboxName = (id: string) => outboxes.find((outbox) => outbox.id === id)?.name ?? id;
  const filtered = Object.values(filter).some((value) => value !== undefined);
  const { nextCursor } = snapshot;
  const { rows: entries, newer, showLatest } = useSteadyRows(query, snapshot.entries, 0);
  return (
    <div className={classes.screen}>
      <div className={classes.head}>
        <h1 className={classes.title}>{t('title')}</h1>
        <span role="status">
          {newer > 0 && (
            <Button size="compact-xs" onClick={showLatest} leftSection={<IconArrowUp size={12} aria-hidden />}>
              {t('newer', { count: newer })}
            </Button>
          )}
        </span>
      </div>
      <AuditLacks lacks={snapshot.lacks} />
      <AuditFilters filter={filter} outboxes={outboxes} operations={operations} onChange={(next) => go(next, null)} />
      {entries.length === 0 ? (
        <div className={classes.frame}>
          <Notice title={filtered ? t('noMatch') : t('empty')} text={filtered ? undefined : t('emptyText')}>
            {filtered && (
              <Button variant="default" size="xs" onClick={() => go({}, null)}>
                {words('filter.clearAll')}
              </Button>
            )}
          </Notice>
        </div>
      ) : (
        <ol className={classes.frame} data-dimmed={pending || failing !== null || undefined} aria-label={t('title')}>
          {entries.map((entry) => (
            <AuditLine key={entry.id} entry={entry} outboxName={entry.outbox === null ? '' : outboxName(entry.outbox)} />
          ))}
        </ol>
      )}
      {(cursor !== null || nextCursor !== null) && (
        <div className={classes.pages}>
          {cursor !== null && (
            <Button variant="default" size="xs" disabled={pending} onClick={() => go(filter, null)}>
              {t('newest')}
            </Button>
          )}
          <Button variant="default" size="xs" disabled={nextCursor === null || pending} onClick={() => go(filter, nextCursor)}>
            {t('older')}
          </Button>
        </div>
      )}
    </div>
  );
}
