import { useTranslations } from 'next-intl';
import type { FleetCard } from '@/lib/shared/embedding/cards';
import type { FleetLine } from '@/lib/shared/figures/fleet';
import { CountText } from '../figures/figure';
import { VerdictMark } from '../figures/mark';
import { useIsStale } from '../figures/time';
import { useFormat } from '../figures/use-format';
import { outboxHref } from '../hrefs';
import classes from './card.module.css';
import { CardHead, Out, type CardProps } from './card-parts';
import { Sentence } from './outbox-card';

/** With more outboxes than this, the healthy ones are one line. */
const ALL_MAX = 12;

/** Every outbox in a line, worst first. */
export function FleetView({ card: { asOf, everyMs, lines }, note }: CardProps<FleetCard>) {
  const t = useTranslations('cards.fleet');
  const needing = lines.filter(({ unread, summary }) => !unread && summary.diagnosis.verdict !== 'healthy');
  const unread = lines.filter((line) => line.unread);
  const shown = lines.length > ALL_MAX ? lines.filter((line) => line.unread || line.stale !== null || needing.includes(line)) : lines;
  return (
    <>
      <CardHead asOf={asOf} href="/" title={t('title')} note={note} />
      <p className={classes.total}>{t('needing', { needing: needing.length, unread: unread.length, total: lines.length })}</p>
      <ul className={classes.lines} aria-label={t('outboxes')}>
        {shown.map((line) => (
          <Outbox key={line.outbox.id} line={line} everyMs={everyMs} />
        ))}
      </ul>
      {shown.length > 0 && lines.length > shown.length && (
        <p className={classes.foot}>{t('healthy', { count: lines.length - shown.length })}</p>
      )}
    </>
  );
}

function Outbox({ line: { outbox, summary, stale, unread }, everyMs }: { line: FleetLine; everyMs: number }) {
  const t = useTranslations('cards.fleet');
  const format = useFormat();
  const old = useIsStale(summary.asOf, everyMs) || stale !== null;
  const { waiting, dead } = summary.depth;
  return (
    <li className={classes.outbox} data-old={old}>
      <span className={classes.what}>
        <Out href={outboxHref(outbox.id)}>{outbox.name}</Out>
        {!unread && <VerdictMark verdict={summary.diagnosis.verdict} />}
      </span>
      <span>
        {unread ? t('unread') : <Sentence summary={summary} />}
        {old && !unread && <span className={classes.quiet}> · {t('old', { clock: format.clock(stale?.since ?? summary.asOf) })}</span>}
      </span>
      {!unread && (
        <span className={classes.counts}>
          <span>{waiting.count !== null && t.rich('waiting', { count: () => <CountText count={waiting} /> })}</span>
          <span>{dead.count !== null && t.rich('dead', { count: () => <CountText count={dead} /> })}</span>
        </span>
      )}
    </li>
  );
}
