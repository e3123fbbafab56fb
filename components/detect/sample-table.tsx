'use client';

import { useTranslations } from 'next-intl';
import type { Sample } from '@/lib/shared/detection';
import { StateMark } from '../figures/mark';
import { RelativeTime } from '../figures/time';
import classes from './detect.module.css';

/** The newest rows as the mapping reads them, values of the payload hidden. */
export function SampleTable({ sample, pending }: { sample: Sample; pending: boolean }) {
  const t = useTranslations('detect');
  return (
    <section className={classes.block} aria-busy={pending}>
      <h3>{t('sample')}</h3>
      <p className={classes.quiet}>
        {t('sampleText', { looked: sample.looked, unmapped: sample.unmapped })} {sample.stateless && t('sampleStateless')}
      </p>
      {sample.rows.length > 0 && (
        <div className={classes.scroll} tabIndex={0} role="region" aria-label={t('sample')}>
          <table className={classes.grid} data-dimmed={pending || undefined}>
            <thead>
              <tr>
                {!sample.stateless && <th scope="col">{t('meaning')}</th>}
                <th scope="col">{t('sampleId')}</th>
                <th scope="col">{t('sampleType')}</th>
                <th scope="col">{t('sampleCreated')}</th>
                <th scope="col">{t('samplePayload')}</th>
              </tr>
            </thead>
            <tbody>
              {sample.rows.map(({ event, payload }) => (
                <tr key={event.id}>
                  {!sample.stateless && (
                    <td>
                      <StateMark state={event.state} label={event.stateLabel} />
                    </td>
                  )}
                  <td className={classes.mono} data-cut title={event.id}>
                    <bdi>{event.id}</bdi>
                  </td>
                  <td data-cut>
                    <bdi>{event.type}</bdi>
                  </td>
                  <td data-steady>{event.createdAt !== null && <RelativeTime at={event.createdAt} />}</td>
                  <td className={classes.mono} data-payload>
                    <bdi>{payload}</bdi>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
