import { useTranslations } from 'next-intl';
import type { InterventionPreview } from '@/lib/shared/model';
import classes from './intervention-dialog.module.css';

/** The statements that will run, on request: values stay numbered parameters and are listed below. */
export function SqlView({ statements }: { statements: InterventionPreview['sql'] }) {
  const t = useTranslations('interventions');
  return (
    <details className={classes.sql}>
      <summary>{t('showSql')}</summary>
      <p>{t('sqlNote')}</p>
      {statements.map(({ text, parameters }, index) => (
        <div key={index} className={classes.statement}>
          <pre tabIndex={0} aria-label={t('statement', { number: index + 1 })}>
            <code>{text}</code>
          </pre>
          {parameters.length > 0 && (
            <ol className={classes.parameters}>
              {parameters.map((value, position) => (
                <li key={position}>
                  <span>{`$${String(position + 1)}`}</span> <bdi>{value}</bdi>
                </li>
              ))}
            </ol>
          )}
        </div>
      ))}
    </details>
  );
}
