import type { ReactElement, ReactNode } from 'react';
import { UnstyledButton } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { type Count, isLacking, type Known, type UnavailableReason } from '@/lib/shared/figures/measured';
import { amountOf, SHOWN_METRICS } from '@/lib/shared/figures/metrics';
import type { Summary } from '@/lib/shared/model';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import type { Verdict } from '@/lib/shared/figures/verdicts';
import type { SlotHealth } from '@/lib/shared/figures/slot-health';
import { CountText, Figure, isClose, isMeanOnly, Mean, Percentile } from '../figures/figure';
import { Age, RelativeTime, Since, useFormat, useTicking } from '../figures/format';
import { FactList } from '../frame/note';
import { LeftOut } from './left-out';
import classes from './outbox.module.css';

interface TileProps {
  label: string;
  of: { known: Known; why?: UnavailableReason };
  /** How it is known, if a text says that better than `known`. */
  knownText?: string;
  /** How to make an unknown figure known. */
  advice?: ReactNode;
  wide?: 'flow' | 'latency' | 'slot';
  children: ReactNode;
}

/** Reasons that an index or a column would remove. */
const ADVISABLE: readonly UnavailableReason[] = ['needs_sampling', 'too_many_rows', 'no_published_at'];

/** That a figure is counted, and of when it is, is said once for all tiles. */
function Tile({ label, of: { known, why }, knownText, advice, wide, children }: TileProps) {
  const words = useTranslations('outbox');
  const said = knownText ?? (known === 'exact' || known === 'unavailable' ? undefined : words(`known.${known}`));
  return (
    <li className={classes.tile} data-wide={wide}>
      <h2 className={classes.tileLabel}>{label}</h2>
      <div className={classes.tileValue}>{children}</div>
      {known === 'unavailable' && why !== undefined && ADVISABLE.includes(why) && advice !== undefined
        ? advice
        : said !== undefined && <p className={classes.tileFoot}>{said}</p>}
    </li>
  );
}

/** How far the relay is, by its replication slot. */
function SlotTile({ slot }: { slot: SlotHealth }) {
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
    <Tile wide="slot" label={words('label')} of={{ known: slot.known }} knownText={words(assumed ? 'assumed' : 'named')}>
      {slot.known === 'unavailable' ? (
        <span className={classes.none}>{reasons(slot.why ?? 'slot_not_found')}</span>
      ) : (
        <FactList className={classes.split} facts={parts} />
      )}
    </Tile>
  );
}

/** What the verdicts are about comes first. */
function leadOf({ diagnosis: { holds } }: Summary): string | null {
  const of = (wanted: Verdict) => holds.some(({ verdict }) => verdict === wanted);
  return of('dead_growing') ? 'dead' : of('stuck_processing') ? 'processing' : null;
}

/** `onAdvice`: set if an index or a column would make more figures known. */
export function Tiles({ summary, onAdvice }: { summary: Summary; onAdvice?: () => void }) {
  const words = useTranslations('outbox');
  const format = useFormat();
  const { depth, oldestPendingAt, lastPublishedAt, lastPublishedWhy, latency, throughput, slot, asOf } = summary;
  const window = useTranslations('frame.windows')(summary.window);
  const advice = onAdvice && (
    <UnstyledButton className={classes.advice} onClick={onAdvice}>
      {words('advice')}
    </UnstyledButton>
  );
  const counted = (key: 'waiting' | 'dead' | 'retrying' | 'processing', count: Count) => (
    <Tile key={key} advice={advice} label={words(`tiles.${key}`)} of={count}>
      <CountText large count={count} />
    </Tile>
  );
  const rate = (value: number | null) => (
    <Figure large text={value === null ? null : format.rate(value)} known={throughput.known} why={throughput.why} />
  );
  const rates = (['published', 'created'] as const).map((name) => [words(`tiles.${name}`), rate(throughput[`${name}PerMinute`])] as const);
  const { since } = throughput;
  const known =
    since && words('tiles.ratesSince', { known: words(`known.${throughput.known}`), clock: format.recent(since, Date.parse(asOf)) });
  const { touched } = latency;
  const time = (ms: number | null) => <Percentile large ms={ms} of={latency} />;
  const percentiles: [string, ReactNode][] = (['p50', 'p95', 'p99'] as const).map((name) => [name, time(latency[`${name}Ms`])]);
  const times = isMeanOnly(latency)
    ? ([
        [words('tiles.mean'), <Mean key="mean" large of={latency} />],
        ['p50, p95, p99', <Figure key="none" text={null} why={latency.why} />],
      ] as const)
    : [...percentiles, [words('tiles.mean'), time(latency.meanMs)] as const];
  const timed = (at: string | null, Time: typeof Since, why: UnavailableReason | undefined) =>
    at === null ? (
      <Figure large text={null} why={why} />
    ) : (
      <span className={classes.large}>
        <Time at={at} />
      </span>
    );
  const oldestOf: TileProps['of'] =
    oldestPendingAt !== null || depth.waiting.count === 0
      ? { known: 'exact' }
      : { known: 'unavailable', why: depth.waiting.why ?? 'no_created_at' };
  const tiles: ReactElement<TileProps>[] = [
    counted('waiting', depth.waiting),
    <Tile key="oldest" advice={advice} label={words('tiles.oldest')} of={oldestOf}>
      {oldestPendingAt === null && depth.waiting.count === 0 ? (
        <span className={classes.none}>{words('nothingWaiting')}</span>
      ) : (
        timed(oldestPendingAt, Since, oldestOf.why)
      )}
    </Tile>,
    <Tile key="throughput" advice={advice} wide="flow" label={words('tiles.throughput', { window })} of={throughput} knownText={known}>
      <FactList className={classes.split} facts={rates} />
    </Tile>,
    <Tile
      key="latency"
      advice={advice}
      wide="latency"
      label={latency.count === null ? words('tiles.latency', { window }) : words('tiles.latencyOf', { window, count: latency.count })}
      of={latency}
      knownText={isClose(latency) ? words('known.within', { share: format.percent(latency.errorShare ?? 0) }) : undefined}
    >
      <FactList className={classes.split} facts={times} />
      {touched.count !== null && touched.p95Ms !== null && (
        <p className={classes.tileFoot}>
          {words('tiles.touched', { known: touched.known, count: touched.count, p95: format.latency(touched.p95Ms) })}
        </p>
      )}
    </Tile>,
    counted('dead', depth.dead),
    counted('retrying', depth.retrying),
    counted('processing', depth.processing),
    <Tile
      key="lastPublished"
      advice={advice}
      label={words('tiles.lastPublished')}
      of={{ known: lastPublishedWhy === undefined || lastPublishedWhy === 'no_events' ? 'exact' : 'unavailable', why: lastPublishedWhy }}
    >
      {timed(lastPublishedAt, RelativeTime, lastPublishedWhy)}
    </Tile>,
    ...SHOWN_METRICS.map(({ id, unit }) => {
      const figure = summary[id];
      const amount = amountOf(figure);
      return (
        <Tile key={id} advice={advice} label={words(`tiles.${id}`, { window })} of={figure}>
          <Figure large text={amount === null ? null : format.amount[unit](amount)} known={figure.known} why={figure.why} />
        </Tile>
      );
    }),
  ];
  const lacking = tiles.filter(({ props: { of } }) => of.known === 'unavailable' && isLacking(of.why));
  const lead = leadOf(summary);
  const shown = tiles.filter((one) => !lacking.includes(one));
  return (
    <div>
      <ul className={classes.tiles} aria-label={words('figures')}>
        {slot !== null && <SlotTile slot={slot} />}
        {shown.filter(({ key }) => key === lead)}
        {shown.filter(({ key }) => key !== lead)}
      </ul>
      <p className={classes.tilesFoot}>
        {words('known.exact')} · <Age asOf={asOf} intervalMs={POLL_INTERVAL_MS} />
        <LeftOut lacking={lacking.map(({ props: { label, of } }) => ({ label, why: of.why }))} after=" · " />
        {lacking.some(({ props: { of } }) => of.why !== undefined && ADVISABLE.includes(of.why)) && <> {advice}</>}
      </p>
    </div>
  );
}
