import { useTranslations } from 'next-intl';
import type { PlanLine } from '@/lib/shared/runs/screens';
import { visibleText } from '@/lib/shared/text/visible-text';
import { RelativeTime } from '../figures/time';
import { useFormat } from '../figures/use-format';
import { Link } from '../frame/go';
import { planHref, runHref } from '../hrefs';
import { Planned, PlanState, useSums } from './planned';
import classes from './runs.module.css';

/** A line a plan, leading to its run where it has one. */
export function PlanList({ plans, label }: { plans: readonly PlanLine[]; label: string }) {
  return (
    <ol className={classes.lines} aria-label={label}>
      {plans.map((plan) => (
        <Line key={plan.id} plan={plan} />
      ))}
    </ol>
  );
}

function Line({ plan }: { plan: PlanLine }) {
  const t = useTranslations();
  const format = useFormat();
  const sums = useSums()(plan);
  const { progress, run, approval, maker, reason } = plan;
  return (
    <li>
      <div className={classes.what}>
        <Link href={run === null ? planHref(plan.id) : runHref(run)} prefetch={false}>
          <Planned plan={plan} />
        </Link>
        {sums !== '' && <span> · {sums}</span>}
        <p className={classes.dimmed}>
          <bdi>{visibleText(maker)}</bdi> · <RelativeTime at={plan.createdAt} /> · <q>{visibleText(reason)}</q>
        </p>
      </div>
      <div className={classes.standing}>
        {progress === null ? (
          <PlanState plan={plan} />
        ) : (
          <span className={classes.state} data-hue={progress.state === 'paused' ? 'amber' : progress.state === 'running' ? 'blue' : 'grey'}>
            {t(`runs.states.${progress.state}`)}
          </span>
        )}
        {progress !== null && (
          <span className={classes.number}>{t('plans.done', { changed: progress.changed, requested: progress.requested })}</span>
        )}
        {progress === null && (approval?.state === 'requested' || approval?.state === 'approved') && (
          <span className={classes.dimmed}>{t('plans.approvals.until', { at: format.absolute(approval.until) })}</span>
        )}
      </div>
    </li>
  );
}
