import { useTranslations } from 'next-intl';
import { type ReactNode, useRef } from 'react';
import type { PlanRequest, PlanSource } from '@/lib/shared/runs/plans';
import { useConsole } from '../frame/console';
import { useGo } from '../frame/go';
import { useChange } from '../frame/use-change';
import { planHref } from '../hrefs';
import { useOperationName } from './operations';

/** Makes a plan and opens its page. The same request sent again is the same plan. */
export function useMakePlan(outbox: string) {
  const { make } = useConsole().plans;
  const { go } = useGo();
  const last = useRef({ text: '', key: '' });
  return useChange(
    // More than a request, such as a whole plan, is refused.
    ({ operation, reason, source }: PlanRequest) => {
      const request = { operation, reason, source };
      const text = JSON.stringify([outbox, request]);
      if (last.current.text !== text) last.current = { text, key: crypto.randomUUID() };
      return make({ outbox, request, key: last.current.key });
    },
    { onDone: (plan) => go((router) => router.push(planHref(plan.id))) },
  );
}

/** "Plan requeue". */
export function usePlanWord(): (operation: string) => string {
  const t = useTranslations();
  const name = useOperationName();
  return (operation) =>
    t.has(`operations.${operation}.plan`) ? t(`operations.${operation}.plan`) : t('plans.planOther', { operation: name(operation) });
}

export interface PlanChoice {
  outbox: string;
  /** The first one is offered first; the others can be chosen. */
  operations: readonly [string, ...string[]];
  source: PlanSource;
  /** Which events these are. */
  about?: ReactNode;
}
