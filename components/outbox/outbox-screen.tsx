'use client';

import { useState } from 'react';
import { Title } from '@mantine/core';
import { Link } from '../frame/go';
import { useTranslations } from 'next-intl';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import type { ActionResult } from '@/lib/shared/problems';
import type { ChartView, MarkedSnapshot } from '@/lib/shared/figures/chart-view';
import { useIsStale } from '../figures/format';
import { usePolledSnapshot } from '../frame/live';
import { ReadOnlyNote } from '../frame/note';
import { DoctorLine } from '../doctor/doctor-line';
import { doctorHref } from '../hrefs';
import { Charts, type MarkActions } from './charts';
import { CollectorLine } from './collector-line';
import { Tiles } from './tiles';
import { TypeTable, type TrendsAction } from './type-table';
import { VerdictBanner } from './verdict-banner';
import classes from './outbox.module.css';

interface OutboxScreenProps {
  outbox: string;
  view: ChartView;
  initial: MarkedSnapshot;
  action: (input: { outbox: string } & ChartView) => Promise<ActionResult<MarkedSnapshot>>;
  trendsAction: TrendsAction;
  /** null if the viewer may not mark. */
  marking: MarkActions | null;
}

export function OutboxScreen({ outbox: id, view, initial, action, trendsAction, marking }: OutboxScreenProps) {
  const words = useTranslations('doctor');
  const { snapshot, refresh } = usePolledSnapshot({
    key: ['outbox', id, view],
    action: () => action({ outbox: id, ...view }),
    initial,
  });
  const { outbox, summary, collector, series, marks, doctor, stale } = snapshot;
  const [explained, explain] = useState(false);
  return (
    <div className={classes.screen} data-stale={useIsStale(summary.asOf, POLL_INTERVAL_MS) || stale !== null}>
      <header className={classes.head}>
        <Title order={1}>{outbox.name}</Title>
        <p className={classes.where}>
          {outbox.database} · <code>{outbox.table}</code> ·{' '}
          <Link href={doctorHref(outbox.id)} prefetch={false}>
            {words('title')}
          </Link>
        </p>
      </header>
      <VerdictBanner outbox={outbox} summary={summary} sessions={snapshot.sessions} run={snapshot.run} stale={stale} onRefresh={refresh} />
      <ReadOnlyNote outbox={outbox} />
      {/* Not if it comes later: the screen must not move under the pointer. */}
      {initial.doctor?.worst != null && doctor !== null && <DoctorLine outbox={outbox.id} doctor={doctor} />}
      <Tiles summary={summary} onAdvice={collector?.advice ? () => explain(true) : undefined} />
      <Charts outbox={id} view={view} series={series} marks={marks} marking={marking} onMarked={refresh}>
        <CollectorLine collector={collector} asOf={summary.asOf} open={explained} onOpen={explain} />
      </Charts>
      <TypeTable outbox={outbox} summary={summary} view={view} trendsAction={trendsAction} />
    </div>
  );
}
