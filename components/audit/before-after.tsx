import { useTranslations } from 'next-intl';
import type { AuditEntry } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import classes from './audit.module.css';

/** The columns of the row before and after, the changed ones first. */
export function BeforeAfter({ before, after }: Pick<AuditEntry, 'before' | 'after'>) {
  const t = useTranslations('audit.diff');
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const rows = names
    .map((name) => ({ name, from: before?.[name], to: after?.[name] }))
    .map((row) => ({ ...row, changed: row.from !== row.to }))
    .sort((a, b) => Number(b.changed) - Number(a.changed));
  const text = (value: string | null | undefined) =>
    value === undefined ? (
      <span className={classes.absent}>{t('none')}</span>
    ) : value === null ? (
      <span className={classes.absent}>NULL</span>
    ) : (
      <bdi>{visibleText(value)}</bdi>
    );
  return (
    <div className={classes.diffFrame} tabIndex={0} role="region" aria-label={t('title')}>
      <table className={classes.diff}>
        <thead>
          <tr>
            <th scope="col">{t('column')}</th>
            <th scope="col">{t('before')}</th>
            <th scope="col">{t('after')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, from, to, changed }) => (
            <tr key={name} data-changed={changed || undefined}>
              <th scope="row">{name}</th>
              <td>{text(from)}</td>
              <td>{text(to)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
