import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { ProblemInfo } from '@/lib/shared/problems';
import { ReadOnlyNote } from '../frame/note';
import classes from './problem-panel.module.css';

interface ProblemPanelProps {
  problem: ProblemInfo;
  outbox: string;
  /** The change was sent and refused: nothing of it remains. */
  untouched?: boolean;
  children?: ReactNode;
}

export function ProblemPanel({ problem: { code, reference, fields, because }, outbox, untouched = false, children }: ProblemPanelProps) {
  const t = useTranslations();
  return (
    <div role="alert" className={classes.trouble}>
      <p>
        {t(`problems.${code}`)}
        {untouched && ` ${t('interventions.untouched')}`}
      </p>
      {because !== undefined && <ReadOnlyNote outbox={{ id: outbox, whyReadOnly: because }} />}
      {fields !== undefined && Object.entries(fields).map(([field, text]) => <p key={field}>{`${field}: ${text}`}</p>)}
      {reference !== undefined && <p className={classes.reference}>{t('interventions.reference', { reference })}</p>}
      {children}
    </div>
  );
}
