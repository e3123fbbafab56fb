import type { ReactNode } from 'react';
import { UnstyledButton } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { Count, Known, UnavailableReason } from '@/lib/shared/figures/measured';
import { amountOf, SHOWN_METRICS } from '@/lib/shared/figures/metrics';
import type { Summary } from '@/lib/shared/model';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import type { SlotHealth } from '@/lib/shared/figures/slot-health';
import { CountText, Figure, isClose, isMeanOnly, Mean, Percentile } from '../figures/figure';
import { Age, RelativeTime, Since, useTicking } from '../figures/time';
import { useFormat } from '../figures/use-format';
import { FactList } from '../frame/note';
import classes from './outbox.module.css';

interface TileProps {
  label: string;
  of: { known: Known; why?: UnavailableReason };
  /** How it is known, if a text says that better than `known`. */
  knownText?: string;
  /** Opens the advice on how to make an unknown figure known. */
  onAdvice?: () => void;
  asOf: string;
  wide?: 'flow' | 'latency' | 'slot';
  children: ReactNode;
}

/** Reasons that an index or a column would remove. */
const ADVISABLE: readonly UnavailableReason[] = ['needs_sampling', 'too_many_rows', 'no_published_at'];

function Tile({ label, of: { known, why }, knownText, onAdvice, asOf, wide, children }: TileProps) {
  const words = useTranslations('outbox');
  return (
    <li className={classes.tile} data-wide={wide}>
      <h2 className={classes.tileLabel}>{label}</h2>
      <div className={classes.tileValue}>{children}</div>
      <p className={classes.tileFoot}>
        {known === 'unavailable' && why !== undefined && ADVISABLE.includes(why) && onAdvice ? (
          <UnstyledButton className={classes.advice} onClick={onAdvice}>
            {words('advice')}
          </UnstyledButton>
        ) : (
          <>
            {known !== 'unavailable' && `${knownText ?? words(`known.${known}`)} · `}
            <Age short asOf={asOf} intervalMs={POLL_INTERVAL_MS} />
          </>
        )}
      </p>
    </li>
  );
}

/** How far the relay is, by its replication slot. */
function SlotTile({ slot, asOf }: { slot: SlotHealth; asOf: string }) {
  const words = useTranslations('outbox.slot');
  const reasons = useTranslations('unavailable');
  const format = useFormat();
  const { name, state, inactiveSince, assumed } = slot;
  const age = useTicking((now) => (inactiveSince === null ? 'none' : format.age(now - Date.parse(inactiveSince))));
  const reader = state === 'active' ? words('connected') : state === 'inactive' ? words('gone', { age }) : words(state ?? 'missing');
  const size = (bytes: number | null) => (bytes === null ? null : <Figure large text={format.bytes(bytes)} />);
  const parts: [string, ReactNode][] = [
    [words('name'), <code className={classes.slotName}>{name}</code>],
    [
      words('reader'),
      <span className={classes.slotReader}>
        <Figure large text={reader} />
      </span>,
    ],
    [words('lag'), size(slot.lagBytes)],
    [words('held'), size(slot.heldBytes)],
    [words('safe'), size(slot.safeBytes)],
  ];
  return (
    <Tile asOf={asOf} wide="slot" label={words('label')} of={{ known: slot.known }} knownText={words(assumed ? 'assumed' : 'named')}>
      {slot.known === 'unavailable' ? (
        <span className={classes.none}>{reasons(slot.why ?? 'slot_not_found')}</span>
      ) : (
        <FactList className={classes.split} facts={parts} />
      )}
    </Tile>
  );
}

interface TilesProps {
  summary: Summary;
  /** Set if an index or a column would make more figures known. */
  onAdvice?: () => void;
}

export function Tiles({ summary, onAdvice }: TilesProps) {
  const words = useTranslations('outbox');
  const format = useFormat();
  const { depth, oldestPendingAt, lastPublishedAt, lastPublishedWhy, latency, throughput, slot, asOf } = summary;
  const window = useTranslations('frame.windows')(summary.window);
  const tile = { asOf, onAdvice };
  const counted = (label: string, count: Count) => (
    <Tile {...tile} label={label} of={count}>
      <CountText large count={count} />
    </Tile>
  );
  const rate = (value: number | null) => (
    <Figure large text={value === null ? null : format.rate(value)} known={throughput.known} why={throughput.why} />
  );
  const { since } = throughput;
  const known =
    since && words('tiles.ratesSince', { known: words(`known.${throughput.known}`), clock: format.recent(since, Date.parse(asOf)) });
  const { touched } = latency;
  const time = (ms: number | null) => <Percentile large ms={ms} of={latency} />;
  return (
    <ul className={classes.tiles} aria-label={words('figures')}>
      {slot !== null && <SlotTile slot={slot} asOf={asOf} />}
      {counted(words('tiles.waiting'), depth.waiting)}
      <Tile {...tile} label={words('tiles.oldest')} of={{ known: oldestPendingAt === null ? depth.waiting.known : 'exact' }}>
        {oldestPendingAt !== null ? (
          <span className={classes.large}>
            <Since at={oldestPendingAt} />
          </span>
        ) : depth.waiting.count === 0 ? (
          <span className={classes.none}>{words('nothingWaiting')}</span>
        ) : (
          <Figure large text={null} why={depth.waiting.why ?? 'no_created_at'} />
        )}
      </Tile>
      <Tile {...tile} wide="flow" label={words('tiles.throughput', { window })} of={throughput} knownText={known}>
        <FactList
          className={classes.split}
          facts={[
            [words('tiles.published'), rate(throughput.publishedPerMinute)],
            [words('tiles.created'), rate(throughput.createdPerMinute)],
          ]}
        />
      </Tile>
      <Tile
        {...tile}
        wide="latency"
        label={latency.count === null ? words('tiles.latency', { window }) : words('tiles.latencyOf', { window, count: latency.count })}
        of={latency}
        knownText={isClose(latency) ? words('known.within', { share: format.percent(latency.errorShare ?? 0) }) : undefined}
      >
        {isMeanOnly(latency) ? (
          <FactList
            className={classes.split}
            facts={[
              [words('tiles.mean'), <Mean key="mean" large of={latency} />],
              ['p50, p95, p99', <Figure key="none" text={null} why={latency.why} />],
            ]}
          />
        ) : (
          <FactList
            className={classes.split}
            facts={[
              ['p50', time(latency.p50Ms)],
              ['p95', time(latency.p95Ms)],
              ['p99', time(latency.p99Ms)],
              [words('tiles.mean'), time(latency.meanMs)],
            ]}
          />
        )}
        {touched.count !== null && touched.p95Ms !== null && (
          <p className={classes.tileFoot}>{words('tiles.touched', { count: touched.count, p95: format.latency(touched.p95Ms) })}</p>
        )}
      </Tile>
      {counted(words('tiles.dead'), depth.dead)}
      {counted(words('tiles.retrying'), depth.retrying)}
      {counted(words('tiles.processing'), depth.processing)}
      <Tile
        {...tile}
        label={words('tiles.lastPublished')}
        of={{ known: lastPublishedWhy === undefined || lastPublishedWhy === 'no_events' ? 'exact' : 'unavailable', why: lastPublishedWhy }}
      >
        {lastPublishedAt !== null ? (
          <span className={classes.large}>
            <RelativeTime at={lastPublishedAt} />
          </span>
        ) : (
          <Figure large text={null} why={lastPublishedWhy} />
        )}
      </Tile>
      {SHOWN_METRICS.map(({ id, unit }) => {
        const figure = summary[id];
        const amount = amountOf(figure);
        return (
          <Tile key={id} {...tile} label={words(`tiles.${id}`, { window })} of={figure}>
            <Figure large text={amount === null ? null : format.amount[unit](amount)} known={figure.known} why={figure.why} />
          </Tile>
        );
      })}
    </ul>
  );
}
