import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { ProblemInfo } from '@/lib/shared/problems';
import { ReadOnlyNote } from '../proof/read-only-note';
import classes from './intervention-dialog.module.css';

interface TroubleProps {
  problem: ProblemInfo;
  outbox: string;
  /** Of a change that was sent and refused: nothing of it remains. */
  untouched?: boolean;
  children?: ReactNode;
}

/** What a problem means, and what can be done about it. */
export function Trouble({ problem: { code, reference, fields, because }, outbox, untouched = false, children }: TroubleProps) {
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
