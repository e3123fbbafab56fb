import { memo, type ReactNode } from 'react';
import { Link, PlainLink } from '../frame/go';
import { useTranslations } from 'next-intl';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import type { DoctorHeadline, FleetNews } from '@/lib/shared/doctor';
import { hasNoValue } from '@/lib/shared/figures/measured';
import { SPARKLINE_POINTS, type FleetLine } from '@/lib/shared/figures/fleet';
import { CountText, Figure, isMeanOnly, Mean, Percentile } from '../figures/figure';
import { SeveritySign, VerdictSign } from '../figures/mark';
import { Sparkline } from '../charts/sparkline';
import { RelativeTime, Since, useFormat, useIsStale } from '../figures/format';
import { useVerdictSentence, VerdictSentence } from '../outbox/use-verdict-sentence';
import { doctorHref, outboxHref } from '../hrefs';
import classes from './fleet.module.css';

interface FleetRowProps {
  line: FleetLine;
  /** The doctor's headline for its table; null if it has no findings, or is not examined yet. */
  doctor: DoctorHeadline | null;
  /** Of how many causes its dead events are; null while they are not read. */
  causes: FleetNews['causesOf'][string] | null;
  /** Milliseconds between two readings, if all is well. */
  everyMs: number;
}

export const FIGURE_COLUMNS = ['depth', 'waiting', 'oldest', 'p95', 'dead', 'lastPublished'] as const;

/** False if nothing was ever read or computed. */
function hasFigures({ depth, latency, lastPublishedAt }: FleetLine['summary']): boolean {
  const { count, why } = depth.waiting;
  return count !== null || latency.p95Ms !== null || lastPublishedAt !== null || !hasNoValue(why);
}

/** One outbox of the fleet; old figures are grey. */
export const FleetRow = memo(function FleetRow({
  line: { outbox, summary, stale, unread, sparkline, sparklineOf },
  doctor,
  causes,
  everyMs,
}: FleetRowProps) {
  const words = useTranslations('fleet');
  const badges = useTranslations('doctor');
  const format = useFormat();
  const old = useIsStale(summary.asOf, everyMs);
  const { depth, latency, oldestPendingAt, lastPublishedAt } = summary;
  const figures = hasFigures(summary);
  const again = summary.diagnosis.evidence.find(({ code }) => code === 'died_again')?.values;
  const badge = doctor === null ? undefined : badges('badge', { severity: doctor.severity, count: doctor.count });
  const cell = (column: (typeof FIGURE_COLUMNS)[number] | 'database', content: ReactNode) => (
    <td role="cell" data-column={column}>
      {content}
    </td>
  );
  return (
    <tr role="row" className={classes.row} data-stale={old || stale !== null}>
      <th role="rowheader" scope="row" data-column="outbox">
        <Link href={outboxHref(outbox.id)} className={classes.name} data-row>
          {outbox.name}
        </Link>
        {doctor !== null && (
          <PlainLink href={doctorHref(outbox.id)} className={classes.doctor} aria-label={badge} title={badge}>
            <SeveritySign severity={doctor.severity} count={doctor.count} />
          </PlainLink>
        )}
        {figures && stale !== null && <span className={classes.staleNote}>{words('lastGood', { clock: format.clock(stale.since) })}</span>}
      </th>
      {/* Without any figure, the reason is shown once and not in every column. */}
      <td role="cell" data-column="verdict" colSpan={figures ? undefined : FIGURE_COLUMNS.length + 1}>
        {unread ? (
          <span className={classes.quiet}>{words('unread')}</span>
        ) : (
          <div className={classes.verdict}>
            <VerdictSign verdict={summary.diagnosis.verdict} />
            <span>
              <VerdictSentence summary={summary} />
            </span>
          </div>
        )}
      </td>
      {figures && (
        <>
          {cell('depth', <Sparkline values={sparkline} points={SPARKLINE_POINTS} of={sparklineOf} />)}
          {cell('waiting', <CountText count={depth.waiting} />)}
          {cell(
            'oldest',
            oldestPendingAt !== null ? (
              <Since at={oldestPendingAt} />
            ) : depth.waiting.count === 0 ? (
              <span className={classes.quiet}>{words('nothingWaiting')}</span>
            ) : (
              <Figure text={null} why={depth.waiting.why ?? 'no_created_at'} />
            ),
          )}
          {cell('p95', isMeanOnly(latency) ? <Mean named of={latency} /> : <Percentile ms={latency.p95Ms} of={latency} />)}
          {cell(
            'dead',
            <>
              {depth.dead.count === null || depth.dead.count === 0 ? (
                <CountText count={depth.dead} />
              ) : (
                <PlainLink href={outboxHref(outbox.id, '/dead-letters')} className={classes.toDead}>
                  <CountText count={depth.dead} />
                </PlainLink>
              )}{' '}
              {typeof again?.count === 'number' ? (
                <span className={classes.again}>{words('again', { count: again.count, atLeast: again.atLeast ?? 'no' })}</span>
              ) : (
                causes !== null &&
                causes.count > 0 &&
                depth.dead.count !== 0 && (
                  <span className={classes.again}>{words('causes', { count: causes.count, atLeast: causes.atLeast ? 'yes' : 'no' })}</span>
                )
              )}
            </>,
          )}
          {cell(
            'lastPublished',
            lastPublishedAt !== null ? <RelativeTime at={lastPublishedAt} /> : <Figure text={null} why={summary.lastPublishedWhy} />,
          )}
        </>
      )}
      {cell('database', outbox.database)}
    </tr>
  );
});

interface AwayRowProps {
  database: string;
  lines: readonly [FleetLine, ...FleetLine[]];
  open: boolean;
  onToggle: () => void;
}

/** All outboxes of an unreachable database: the cause once, their names, and their own lines if opened. */
export function UnreachableRow({ database, lines, open, onToggle }: AwayRowProps) {
  const words = useTranslations('fleet');
  const sentence = useVerdictSentence(lines[0].summary);
  const Chevron = open ? IconChevronDown : IconChevronRight;
  return (
    <tr role="row" className={classes.row} data-away>
      <th role="rowheader" scope="row" data-column="outbox">
        <button type="button" className={classes.name} data-row aria-expanded={open} onClick={onToggle}>
          <Chevron size={14} aria-hidden className={classes.chevron} />
          {database}
        </button>
      </th>
      <td role="cell" data-column="verdict" colSpan={FIGURE_COLUMNS.length + 1}>
        <div className={classes.verdict}>
          <VerdictSign verdict="source_down" />
          <span>
            {sentence}
            <span className={classes.names}>
              {words('awayOutboxes', { count: lines.length })} {lines.map(({ outbox }) => outbox.name).join(', ')}
            </span>
          </span>
        </div>
      </td>
      <td role="cell" data-column="database" />
    </tr>
  );
}
