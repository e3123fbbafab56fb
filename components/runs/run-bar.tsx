import { useTranslations } from 'next-intl';
import type { Run } from '@/lib/shared/runs/runs';
import { useFormat } from '../figures/use-format';
import { sharesOf } from './run-sentence';
import classes from './runs.module.css';

/** What became of all events, as a bar with its legend: places are kept, so that figures change and nothing moves. */
export function RunBar({ run }: { run: Run }) {
  const t = useTranslations('runs');
  const format = useFormat();
  const shares = sharesOf(run);
  const shown = (Object.keys(shares) as (keyof typeof shares)[]).filter((part) =>
    run.followed ? part !== 'done' : part === 'done' || part === 'skipped' || part === 'remaining' || shares[part] > 0,
  );
  return (
    <figure className={classes.progress} aria-label={t('bar')}>
      <div className={classes.bar} aria-hidden>
        {shown.map((part) => shares[part] > 0 && <span key={part} data-part={part} style={{ flexGrow: shares[part] }} />)}
      </div>
      <dl className={classes.legend} style={{ ['--digits' as string]: format.number(run.requested).length }}>
        {shown.map((part) => (
          <div key={part} data-part={part}>
            <dt>{t(`legend.${part}`)}</dt>
            <dd>{format.number(shares[part])}</dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}
