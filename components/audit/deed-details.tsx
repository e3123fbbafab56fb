import { useTranslations } from 'next-intl';
import type { AuditEntry } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import classes from './audit.module.css';

/** What is known of something that was done to no event: from where somebody signed in, what a new token may. */
export function DeedDetails({ of }: { of: NonNullable<AuditEntry['after']> }) {
  const t = useTranslations('audit');
  const text = (name: string, value: string | null): string => {
    if (value === null) return name === 'days' ? t('deed.noEnd') : 'NULL';
    return name === 'role' && t.has(`roles.${value}`) ? t(`roles.${value}`) : visibleText(value);
  };
  return (
    <dl className={classes.deed}>
      {Object.entries(of).map(([name, value]) => (
        <div key={name}>
          <dt>{t.has(`deed.names.${name}`) ? t(`deed.names.${name}`) : name}</dt>
          <dd>
            <bdi>{text(name, value)}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}
