import { Code } from '@mantine/core';
import { IconDatabaseImport, IconEyeOff, IconHistory, IconHourglass, IconSnowflake } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { CollectorStatus } from '@/lib/shared/figures/collection';
import { AbsoluteTime, useFormat } from '../figures/format';
import { FactList } from '../frame/note';
import { ButtonPopover, CopyText } from '../frame/popovers';
import classes from './collector.module.css';

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
export function CollectorLine({ collector, asOf, open, onOpen }: CollectorLineProps) {
  const words = useTranslations('collector');
  const format = useFormat();
  const state = collector?.state ?? 'waiting';
  const Sign = SIGNS[state];
  const share = collector?.backfill?.share ?? 0;
  return (
    <div className={classes.line} data-state={state}>
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
        <progress className={classes.progress} value={share} max={1} aria-label={words('progress')}>
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
          className={classes.details}
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
        <div className={classes.advice}>
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
