import type { ReactNode } from 'react';
import { UnstyledButton } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { Known, UnavailableReason } from '@/lib/shared/figures/measured';
import type { Summary } from '@/lib/shared/model';
import type { SlotHealth } from '@/lib/shared/figures/slot-health';
import { CLOSE_SHARE, CountText, Figure, Percentile } from '../figures/figure';
import { Age, RelativeTime, Since } from '../figures/time';
import { useFormat } from '../figures/use-format';
import { useTicking } from '../frame/clock';
import classes from './outbox.module.css';

interface TileProps {
  label: string;
  known: Known;
  /** How it is known, where that is said better than by `known`. */
  knownText?: string;
  why?: UnavailableReason;
  /** Offers what would make a figure known that is not. */
  onAdvice?: () => void;
  asOf: string;
  intervalMs: number;
  wide?: 'flow' | 'latency' | 'slot';
  children: ReactNode;
}

/** What an index or a column would mend. */
const ADVISABLE: readonly UnavailableReason[] = ['needs_sampling', 'too_many_rows', 'no_published_at'];

/** A figure with its name, how it is known and how old it is. */
function Tile({ label, known, knownText, why, onAdvice, asOf, intervalMs, wide, children }: TileProps) {
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
            <Age short asOf={asOf} intervalMs={intervalMs} />
          </>
        )}
      </p>
    </li>
  );
}

/** Several figures side by side under small names of their own. */
function Split({ parts }: { parts: { name: string; value: ReactNode }[] }) {
  return (
    <dl className={classes.split}>
      {parts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What tells how far the relay is, where no row does. */
function SlotTile({ slot, ...tile }: { slot: SlotHealth } & Pick<TileProps, 'asOf' | 'intervalMs'>) {
  const words = useTranslations('outbox.slot');
  const reasons = useTranslations('unavailable');
  const format = useFormat();
  const { name, state, inactiveSince, assumed } = slot;
  const since = useTicking((now) => (inactiveSince === null ? 'none' : format.age(now - Date.parse(inactiveSince))));
  const bytes = (part: 'lag' | 'held' | 'safe', value: number | null) =>
    value === null ? [] : [{ name: words(part), value: <Figure large text={format.bytes(value)} /> }];
  const reader = state === 'active' ? words('connected') : state === 'inactive' ? words('gone', { age: since }) : words(state ?? 'missing');
  return (
    <Tile {...tile} wide="slot" label={words('label')} known={slot.known} knownText={words(assumed ? 'assumed' : 'named')}>
      {slot.known === 'unavailable' ? (
        <span className={classes.none}>{reasons(slot.why ?? 'slot_not_found')}</span>
      ) : (
        <Split
          parts={[
            { name: words('name'), value: <code className={classes.slotName}>{name}</code> },
            {
              name: words('reader'),
              value: (
                <span className={classes.slotReader}>
                  <Figure large text={reader} />
                </span>
              ),
            },
            ...bytes('lag', slot.lagBytes),
            ...bytes('held', slot.heldBytes),
            ...bytes('safe', slot.safeBytes),
          ]}
        />
      )}
    </Tile>
  );
}

interface TilesProps {
  summary: Summary;
  /** Whether the table says when an event was published. */
  publishedAtKnown: boolean;
  intervalMs: number;
  /** Set where an index or a column would make more figures known. */
  onAdvice?: () => void;
}

/** The figures of now. */
export function Tiles({ summary, publishedAtKnown, intervalMs, onAdvice }: TilesProps) {
  const words = useTranslations('outbox');
  const windows = useTranslations('frame.windows');
  const format = useFormat();
  const { depth, oldestPendingAt, lastPublishedAt, latency, throughput, retries, errorRate, slot, asOf } = summary;
  const window = windows(summary.window);
  const tile = { asOf, intervalMs, onAdvice };
  const rate = (value: number | null) => (
    <Figure large text={value === null ? null : format.rate(value)} known={throughput.known} why={throughput.why} />
  );
  const percentile = (ms: number | null) => <Percentile large ms={ms} of={latency} />;
  const { errorShare } = latency;
  const close = latency.known === 'estimated' && errorShare !== undefined && errorShare <= CLOSE_SHARE;
  return (
    <ul className={classes.tiles} aria-label={words('figures')}>
      {slot !== null && <SlotTile slot={slot} asOf={asOf} intervalMs={intervalMs} />}
      <Tile {...tile} label={words('tiles.waiting')} known={depth.waiting.known} why={depth.waiting.why}>
        <CountText large count={depth.waiting} />
      </Tile>
      <Tile {...tile} label={words('tiles.oldest')} known={oldestPendingAt === null ? depth.waiting.known : 'exact'}>
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
      <Tile {...tile} wide="flow" label={words('tiles.throughput', { window })} known={throughput.known} why={throughput.why}>
        <Split
          parts={[
            { name: words('tiles.published'), value: rate(throughput.publishedPerMinute) },
            { name: words('tiles.created'), value: rate(throughput.createdPerMinute) },
          ]}
        />
      </Tile>
      <Tile
        {...tile}
        wide="latency"
        label={latency.count === null ? words('tiles.latency', { window }) : words('tiles.latencyOf', { window, count: latency.count })}
        known={latency.known}
        why={latency.why}
        knownText={close ? words('known.within', { share: format.percent(errorShare) }) : undefined}
      >
        <Split
          parts={[
            { name: 'p50', value: percentile(latency.p50Ms) },
            { name: 'p95', value: percentile(latency.p95Ms) },
            { name: 'p99', value: percentile(latency.p99Ms) },
            { name: words('tiles.mean'), value: <Percentile large ms={latency.meanMs} of={latency} /> },
          ]}
        />
      </Tile>
      <Tile {...tile} label={words('tiles.dead')} known={depth.dead.known} why={depth.dead.why}>
        <CountText large count={depth.dead} />
      </Tile>
      <Tile {...tile} label={words('tiles.retrying')} known={depth.retrying.known} why={depth.retrying.why}>
        <CountText large count={depth.retrying} />
      </Tile>
      <Tile {...tile} label={words('tiles.processing')} known={depth.processing.known} why={depth.processing.why}>
        <CountText large count={depth.processing} />
      </Tile>
      <Tile {...tile} label={words('tiles.lastPublished')} known={lastPublishedAt === null && !publishedAtKnown ? 'unavailable' : 'exact'}>
        {lastPublishedAt !== null ? (
          <span className={classes.large}>
            <RelativeTime at={lastPublishedAt} />
          </span>
        ) : (
          <Figure large text={null} why={publishedAtKnown ? 'no_events' : 'no_published_at'} />
        )}
      </Tile>
      <Tile {...tile} label={words('tiles.retries', { window })} known={retries.known} why={retries.why}>
        <CountText large count={retries} />
      </Tile>
      <Tile {...tile} label={words('tiles.errorRate', { window })} known={errorRate.known} why={errorRate.why}>
        <Figure
          large
          text={errorRate.value === null ? null : format.percent(errorRate.value)}
          known={errorRate.known}
          why={errorRate.why}
        />
      </Tile>
    </ul>
  );
}
