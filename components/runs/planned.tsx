import { useTranslations } from 'next-intl';
import type { Plan } from '@/lib/shared/runs/plans';
import type { Run } from '@/lib/shared/runs/runs';
import { formatMoney } from '@/lib/shared/text/money';
import { useOutboxName } from '../frame/console';
import { useFormat } from '../figures/format';
import { useOperationName } from '../interventions/operations';
import classes from './runs.module.css';

/** "Requeue 4,012 events of *escrow*". */
export function Planned({ plan: { outbox, operation, count } }: { plan: Pick<Plan, 'outbox' | 'operation' | 'count'> }) {
  const t = useTranslations();
  const name = useOperationName();
  const outboxName = useOutboxName();
  const own = `operations.${operation}.planned` as const;
  return t.rich(t.has(own) ? own : 'plans.plannedOther', {
    count,
    operation: name(operation),
    outbox: () => <em className={classes.subject}>{outboxName(outbox)}</em>,
  });
}

/** "1,203,114.50 EUR and 3 events without an amount"; empty where no amount is known. */
export function useSums(): (plan: Pick<Plan, 'sums' | 'withoutAmount'>) => string {
  const t = useTranslations('plans');
  const { locale } = useFormat();
  return ({ sums, withoutAmount: without }) => {
    const text = Object.entries(sums).map(([currency, amount]) => formatMoney(amount, currency === '' ? null : currency, locale));
    return text.length === 0 ? '' : t('sum', { sums: text.join(' + '), without });
  };
}

/** What a plan waits for: its approval, where it asks for one that has not been used. A refusal stays one. */
export const stateOfPlan = ({ state, approval }: Pick<Plan, 'state' | 'approval'>) =>
  approval !== null && (state === 'open' || approval.state === 'refused') ? approval.state : state;

const HUES = {
  ...{ open: 'blue', started: 'grey', expired: 'grey', void: 'grey', requested: 'amber', approved: 'green', refused: 'red' },
  ...{ queued: 'grey', running: 'blue', paused: 'amber', done: 'green', cancelled: 'grey' },
} as const;

function Mark({ of, text }: { of: keyof typeof HUES; text: string }) {
  return (
    <span className={classes.state} data-hue={HUES[of]}>
      {text}
    </span>
  );
}

export function PlanState({ plan }: { plan: Pick<Plan, 'state' | 'approval'> }) {
  const standing = stateOfPlan(plan);
  return <Mark of={standing} text={useTranslations('plans')(`states.${standing}`)} />;
}

export const RunMark = ({ run: { state } }: { run: Pick<Run, 'state'> }) => (
  <Mark of={state} text={useTranslations('runs')(`states.${state}`)} />
);
