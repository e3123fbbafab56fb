'use client';

import { useTranslations } from 'next-intl';
import type { FilterErrors } from '@/lib/shared/lists/event-filter';
import classes from './filter-bar.module.css';

/** What of a link's filter was not understood, or is not the viewer's to use. */
export function FilterMessages({ errors }: { errors: FilterErrors }) {
  const t = useTranslations('events.filterErrors');
  const wrong = Object.entries(errors);
  if (wrong.length === 0) return null;
  return (
    <ul className={classes.errors} role="alert">
      {wrong.map(([field, { code, value }]) => (
        <li key={field}>{t(code, { value })}</li>
      ))}
    </ul>
  );
}
