import { useTranslations } from 'next-intl';
import type { OutboxCard } from '@/lib/shared/embedding/cards';
import { WINDOW_SECONDS } from '@/lib/shared/figures/windows';
import { formatTick } from '@/lib/shared/text/format';
import { Sparkline } from '../charts/sparkline';
import { CountText, Figure, isMeanOnly, Mean, Percentile } from '../figures/figure';
import { VerdictMark } from '../figures/mark';
import { Since } from '../figures/time';
import { useFormat } from '../figures/use-format';
import { outboxHref } from '../hrefs';
import { useVerdictSentence } from '../outbox/use-verdict-sentence';
import classes from './card.module.css';
import { CardHead, type CardProps } from './card-parts';

/** An outbox's health: its verdict, four figures and what waited. */
export function OutboxView({ card, note }: CardProps<OutboxCard>) {
  const t = useTranslations('cards.outbox');
  const format = useFormat();
  const { outbox, summary, stale } = card.line;
  const { depth, oldestPendingAt, latency } = summary;
  const window = format.age(WINDOW_SECONDS[card.window] * 1_000);
  const noOldest = depth.waiting.count === 0 ? t('none') : <Figure text={null} why={depth.waiting.why ?? 'no_created_at'} />;
  const tiles = {
    waiting: <CountText count={depth.waiting} />,
    oldest: oldestPendingAt === null ? noOldest : <Since at={oldestPendingAt} />,
    dead: <CountText count={depth.dead} />,
    p95: isMeanOnly(latency) ? <Mean named of={latency} /> : <Percentile ms={latency.p95Ms} of={latency} />,
  };
  return (
    <>
      <CardHead asOf={stale?.since ?? card.asOf} href={outboxHref(outbox.id)} title={outbox.name} note={note} />
      <p className={classes.sentence}>
        <VerdictMark verdict={summary.diagnosis.verdict} />
        <Sentence summary={summary} />
      </p>
      <dl className={classes.tiles}>
        {(['waiting', 'oldest', 'dead', 'p95'] as const).map((name) => (
          <div key={name}>
            <dt>{t(name, { window })}</dt>
            <dd>{tiles[name]}</dd>
          </div>
        ))}
      </dl>
      <DepthChart card={card} window={window} />
    </>
  );
}

/** A component of its own, because its ages change every second. */
export const Sentence = ({ summary }: { summary: OutboxCard['line']['summary'] }) => <span>{useVerdictSentence(summary)}</span>;

/** What waited over the window, from zero to the most; what nobody saw is a gap. */
function DepthChart({ card: { points, stepSeconds }, window }: { card: OutboxCard; window: string }) {
  const t = useTranslations('cards.outbox');
  const { locale, timeZone: zone, number } = useFormat();
  const values = points.map(({ waiting, gap }) => (gap ? null : waiting));
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return <p className={classes.quiet}>{t('noChart', { window })}</p>;
  const tick = (step: number): string =>
    formatTick(Date.parse(points[0]?.at ?? '') + step * stepSeconds * 1_000, locale, zone, points.length * stepSeconds + 1);
  const [from, to] = [tick(0), tick(points.length)];
  return (
    <figure className={classes.chart}>
      <figcaption>{t('chartTitle', { window })}</figcaption>
      <span aria-hidden>{number(Math.max(1, ...known))}</span>
      <Sparkline values={values} say={(figures) => t('chart', { ...figures, from, to, zone })} />
      <span aria-hidden>{number(0)}</span>
      <span aria-hidden className={classes.times}>
        <span>{from}</span> <span>{`${to} ${zone}`}</span>
      </span>
    </figure>
  );
}
