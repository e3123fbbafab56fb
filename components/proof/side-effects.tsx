'use client';

import { IconAlertTriangle, IconBolt } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { ProofStatus } from '@/lib/shared/changes/proofs';
import classes from './proof.module.css';

/** What changing a row sets off in its database, and what of it is not taken back. */
export function SideEffects({ status: { triggers, warnings } }: { status: ProofStatus }) {
  const t = useTranslations('proof');
  return (
    <section className={classes.section}>
      <h2>{t('sideEffects')}</h2>
      <ul className={classes.lines}>
        {triggers.map(({ table, name, timing, events }) => (
          <li key={`${table} ${name}`}>
            <IconBolt size={14} aria-hidden />
            <span>
              <code>{name}</code> {t('triggerLine', { timing, events: events.join(', '), table })}
            </span>
          </li>
        ))}
        {warnings.map(({ code, table, name, found }) => (
          <li key={`${code} ${table} ${name ?? ''}`} data-warning>
            <IconAlertTriangle size={14} aria-hidden />
            <span>
              {t(`warning.${code}`)} <code>{[name ?? table, found].filter((part) => part !== null).join(' · ')}</code>
            </span>
          </li>
        ))}
        {triggers.length + warnings.length === 0 && <li className={classes.quiet}>{t('noTriggers')}</li>}
      </ul>
    </section>
  );
}
