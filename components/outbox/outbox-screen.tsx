'use client';

import { useState } from 'react';
import { Title } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import type { ActionResult } from '@/lib/shared/problems';
import type { ChartView, MarkedSnapshot } from '@/lib/shared/chart-view';
import { useIsStale } from '../figures/time';
import { useFormat } from '../figures/use-format';
import { POLL_INTERVAL_MS, usePolledSnapshot } from '../frame/use-polled-snapshot';
import { ProofLink } from '../proof/proof-link';
import { Charts } from './charts';
import { CollectorLine } from './collector-line';
import { MarkEditor, type MarkAction } from './mark-editor';
import { Tiles } from './tiles';
import { TypeTable } from './type-table';
import type { TrendsAction } from './use-type-trends';
import { VerdictBanner } from './verdict-banner';
import classes from './outbox.module.css';

export interface OutboxScreenProps {
  outbox: string;
  view: ChartView;
  initial: MarkedSnapshot;
  action: (input: { outbox: string } & ChartView) => Promise<ActionResult<MarkedSnapshot>>;
  trendsAction: TrendsAction;
  /** null for who may not mark. */
  markAction: MarkAction | null;
}

/** One outbox: what is wrong and what to do, the figures of now, and how it came about. */
export function OutboxScreen({ outbox: id, view, initial, action, trendsAction, markAction }: OutboxScreenProps) {
  const words = useTranslations('outbox');
  const readOnly = useTranslations('readOnly');
  const proof = useTranslations('proof');
  const format = useFormat();
  const { snapshot, refresh } = usePolledSnapshot({
    key: ['outbox', id, view],
    action: () => action({ outbox: id, ...view }),
    initial,
  });
  const { outbox, summary, collector, series, marks, stale } = snapshot;
  const [explained, explain] = useState(false);
  const old = useIsStale(summary.asOf, POLL_INTERVAL_MS) || stale !== null;
  return (
    <div className={classes.screen} data-stale={old}>
      <header className={classes.head}>
        <Title order={1}>{outbox.name}</Title>
        <p className={classes.where}>
          {outbox.database} · <code>{outbox.table}</code> ·{' '}
          <Link href={`/outboxes/${encodeURIComponent(outbox.id)}/proof`} prefetch={false}>
            {proof('title')}
          </Link>
        </p>
      </header>
      <VerdictBanner outbox={outbox} summary={summary} onRefresh={refresh} />
      {stale && <p className={classes.notice}>{words('lastGood', { clock: format.clock(stale.since), problem: stale.problem })}</p>}
      {!outbox.writable && (
        <p className={classes.notice}>
          <IconLock size={16} stroke={1.75} aria-hidden />
          <span>
            {readOnly(outbox.whyReadOnly ?? 'no_operator_url')} <ProofLink outbox={outbox} />
          </span>
        </p>
      )}
      <Tiles
        summary={summary}
        publishedAtKnown={outbox.capabilities.fields.publishedAt}
        intervalMs={POLL_INTERVAL_MS}
        onAdvice={collector?.advice ? () => explain(true) : undefined}
      />
      <Charts
        outbox={id}
        view={view}
        series={series}
        marks={marks}
        markEditor={markAction && <MarkEditor outbox={id} action={markAction} onMarked={refresh} />}
      >
        <CollectorLine collector={collector} asOf={summary.asOf} open={explained} onOpen={explain} />
      </Charts>
      <TypeTable outbox={outbox} summary={summary} view={view} trendsAction={trendsAction} />
    </div>
  );
}
