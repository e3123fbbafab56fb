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
  /** What was tried with a plan, whose refusals have words of their own. */
  of?: 'start' | 'answer';
  children?: ReactNode;
}

export function ProblemPanel({ problem, outbox, untouched = false, of, children }: ProblemPanelProps) {
  const { code, reference, fields, because } = problem;
  const t = useTranslations();
  const own = `plans.problems.${of ?? 'none'}.${code}` as const;
  const nameOf = (field: string) => (t.has(`plans.facts.${field}`) ? t(`plans.facts.${field}`) : field);
  return (
    <div role="alert" className={classes.trouble}>
      <p>
        {t(t.has(own) ? own : `problems.${code}`)}
        {untouched && ` ${t('interventions.untouched')}`}
      </p>
      {because !== undefined && <ReadOnlyNote outbox={{ id: outbox, whyReadOnly: because }} />}
      {fields !== undefined && Object.entries(fields).map(([field, text]) => <p key={field}>{`${nameOf(field)}: ${text}`}</p>)}
      {reference !== undefined && <p className={classes.reference}>{t('interventions.reference', { reference })}</p>}
      {children}
    </div>
  );
}
