'use client';

import { useState } from 'react';
import { Code, Title } from '@mantine/core';
import { IconDatabaseImport, IconEyeOff, IconHistory, IconHourglass, IconSnowflake } from '@tabler/icons-react';
import type { CollectorStatus } from '@/lib/shared/figures/collection';
import { PlainLink } from '../frame/go';
import { useTranslations } from 'next-intl';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import type { ActionResult } from '@/lib/shared/problems';
import type { ChartView, MarkedSnapshot } from '@/lib/shared/figures/chart-view';
import { AbsoluteTime, useFormat, useIsStale } from '../figures/format';
import { usePolledSnapshot } from '../frame/live';
import { FactList, ReadOnlyNote } from '../frame/note';
import { DoctorLine } from '../doctor/doctor-line';
import { ButtonPopover, CopyText } from '../frame/controls';
import { doctorHref } from '../hrefs';
import { Charts, type ChartsProps } from './charts';
import line from './collector.module.css';
import { Tiles } from './tiles';
import { TypeTable, type TypeTableProps } from './type-table';
import { VerdictBanner } from './verdict-banner';
import classes from './outbox.module.css';

interface OutboxScreenProps extends Pick<ChartsProps, 'outbox' | 'view' | 'marking'>, Pick<TypeTableProps, 'trendsAction'> {
  initial: MarkedSnapshot;
  action: (input: { outbox: string } & ChartView) => Promise<ActionResult<MarkedSnapshot>>;
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
          {outbox.database} · <code>{outbox.table}</code> · <PlainLink href={doctorHref(outbox.id)}>{words('title')}</PlainLink>
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

const SIGNS = {
  waiting: IconHourglass,
  backfilling: IconDatabaseImport,
  collecting: IconHistory,
  slowed: IconSnowflake,
  blind: IconEyeOff,
} as const;

const KNOWN_ADVICE = ['index_published_at', 'index_waiting', 'column_published_at', 'base_table_needed', 'read_counters'] as const;

interface CollectorLineProps {
  collector: CollectorStatus | null;
  asOf: string;
  open: boolean;
  onOpen: (open: boolean) => void;
}

/** How the history of an outbox is collected, in one line: how far it reaches, and what hinders it. Details on request. */
function CollectorLine({ collector, asOf, open, onOpen }: CollectorLineProps) {
  const words = useTranslations('collector');
  const format = useFormat();
  const state = collector?.state ?? 'waiting';
  const Sign = SIGNS[state];
  const share = collector?.backfill?.share ?? 0;
  return (
    <div className={line.line} data-state={state}>
      <Sign size={16} stroke={1.75} aria-hidden />
      <p>
        {words(`states.${state}`, {
          every: format.age(collector?.everyMs ?? 0),
          share: format.percent(share),
          from: collector?.backfill ? format.absolute(collector.backfill.from).slice(0, 10) : 'none',
        })}
        {collector?.foldedTo && <span> · {words('upTo', { clock: format.recent(collector.foldedTo, Date.parse(asOf)) })}</span>}
        {collector?.advice && <span> · {words('moreKnown')}</span>}
      </p>
      {collector?.backfill && (
        <progress className={line.progress} value={share} max={1} aria-label={words('progress')}>
          {format.percent(share)}
        </progress>
      )}
      {collector && (
        <ButtonPopover
          label={words('details')}
          size="compact-xs"
          variant="subtle"
          open={open}
          onOpen={onOpen}
          width={400}
          className={line.details}
        >
          {() => <Details collector={collector} />}
        </ButtonPopover>
      )}
    </div>
  );
}

function Details({ collector: { method, watchedSince, everyMs, cost, advice } }: { collector: CollectorStatus }) {
  const words = useTranslations('collector');
  const frame = useTranslations('frame');
  const format = useFormat();
  const costs = words('cost', {
    statements: format.compact(cost.statements),
    rows: format.compact(cost.rows),
    time: format.latency(cost.milliseconds),
    each: format.latency(cost.milliseconds / Math.max(1, cost.statements)),
  });
  return (
    <>
      <FactList
        facts={[
          [words('method'), method && words(`methods.${method}`)],
          [words('watchedSince'), watchedSince && <AbsoluteTime at={watchedSince} />],
          [words('looks'), words('every', { every: format.age(everyMs) })],
          [words('costs'), costs],
        ]}
      />
      {advice && (
        <div className={line.advice}>
          <p>{words(`advice.${KNOWN_ADVICE.find((code) => code === advice?.code) ?? 'other'}`)}</p>
          {advice.sql !== null && (
            <>
              <Code block tabIndex={0}>
                {advice.sql}
              </Code>
              <CopyText text={advice.sql} label={frame('copySql')} />
            </>
          )}
        </div>
      )}
    </>
  );
}
