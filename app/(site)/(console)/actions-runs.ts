'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { makePlan as freezePlan, readApprovals, readPlansSnapshot, readPlanSnapshot, sayOfPlan } from '@/lib/server/reads/plans';
import { idempotencyKey, ofPlan, outboxId, planAnswer, planRequest } from '@/lib/server/schemas';

export const makePlan = defineAction({
  id: 'plan.make',
  permission: 'event:operate',
  input: z.strictObject({ outbox: outboxId, request: planRequest, key: idempotencyKey }),
  attempted: ({ outbox, request }) => ({ outbox, operation: 'plan', reason: request.reason }),
  run: (context, { outbox, request, key }) => freezePlan(context, outbox, request, key),
});

export const planSnapshot = defineAction({
  id: 'plan.snapshot',
  permission: 'outbox:read',
  input: ofPlan,
  run: (context, { plan }) => readPlanSnapshot(context, plan),
});

export const plansSnapshot = defineAction({
  id: 'plans.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({}),
  run: (context) => readPlansSnapshot(context),
});

export const approvalsSnapshot = defineAction({
  id: 'approvals.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({}),
  run: (context) => readApprovals(context),
});

const answered = planAnswer.extend({ plan: z.uuid() });

export const approvePlan = defineAction({
  id: 'plan.approve',
  permission: 'plan:approve',
  input: answered,
  attempted: ({ reason }) => ({ operation: 'approve', reason }),
  run: (context, { plan, ...said }) => sayOfPlan(context, plan, 'approve', said),
});

export const refusePlan = defineAction({
  id: 'plan.refuse',
  permission: 'plan:approve',
  input: answered,
  attempted: ({ reason }) => ({ operation: 'refuse', reason }),
  run: (context, { plan, ...said }) => sayOfPlan(context, plan, 'refuse', said),
});
