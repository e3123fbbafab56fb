import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { LACK_REASONS, type AuditLack } from '@/lib/shared/changes/carrying';
import { Since } from '../figures/format';
import classes from './audit-lacks.module.css';

const NAMED = 3;

/** The databases with records that the audit lacks or may lack, one line per reason; nothing if there are none. */
export function AuditLacks({ lacks }: { lacks: readonly AuditLack[] }) {
  const t = useTranslations('audit.lacks');
  const lines = LACK_REASONS.flatMap((why) => {
    const of = lacks.filter((lack) => lack.why === why);
    const [first] = of.map(({ since }) => since).sort();
    if (first === undefined) return [];
    const names = of.slice(0, NAMED).map(({ database }) => database);
    const records = of.reduce((sum, lack) => sum + (lack.records ?? 0), 0);
    return [{ why, first, records, names: names.join(', '), more: of.length - names.length }];
  });
  if (lines.length === 0) return null;
  return (
    <ul className={classes.lacks} role="status">
      {lines.map(({ why, first, records, names, more }) => (
        <li key={why}>
          <IconAlertTriangle size={14} aria-hidden />
          <span>
            {t.rich(why, { databases: t('databases', { names, more }), records, age: () => <Since at={first} /> })}
            {records > 0 && why !== 'record' && <> {t('records', { records })}</>}
          </span>
        </li>
      ))}
    </ul>
  );
}
