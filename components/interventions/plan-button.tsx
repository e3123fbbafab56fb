import { type ButtonProps } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { lazy, Suspense } from 'react';
import type { PlanRequest } from '@/lib/shared/runs/plans';
import { ButtonPopover, TextButton } from '../frame/controls';
import { type PlanChoice, useMakePlan, usePlanWord } from './use-plan';

const PlanForm = lazy(async () => ({ default: (await import('./plan-form')).PlanForm }));

interface PlanButtonProps extends PlanChoice, Pick<ButtonProps, 'size' | 'variant'> {
  label?: string;
  /** What it is about, for who does not see where it stands. */
  of?: string;
}

/** Asks for a reason and makes a plan: nothing changes until that is started. */
export function PlanButton({ label, of, size = 'compact-sm', variant, ...choice }: PlanButtonProps) {
  const planWord = usePlanWord();
  const text = label ?? planWord(choice.operations[0]);
  return (
    <ButtonPopover label={text} of={of} size={size} variant={variant} side="end" width={400}>
      {(close) => (
        <Suspense fallback={null}>
          <PlanForm {...choice} onClose={close} />
        </Suspense>
      )}
    </ButtonPopover>
  );
}

/** The same plan of the events as they are now. */
export function PlanAgain({ outbox, request }: { outbox: string; request: PlanRequest }) {
  const t = useTranslations('plans');
  const { send, sending, problemText } = useMakePlan(outbox);
  return (
    <>
      <TextButton variant="default" loading={sending} onClick={() => send(request)} label={t('again')} />
      {problemText !== null && <span role="alert">{problemText}</span>}
    </>
  );
}
