'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { makePlan as freezePlan, readApprovals, readPlansSnapshot, readPlanSnapshot, sayOfPlan } from '@/lib/server/reads/plans';
import { beginRun, changeRun, readRun } from '@/lib/server/reads/runs';
import {
  answerOfPlan,
  idempotencyKey,
  ofPlan,
  ofRun,
  outboxId,
  paceRequest,
  planAnswer,
  planRequest,
  runDeed,
  runRequest,
} from '@/lib/server/schemas';

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

export const answerPlan = defineAction({
  id: 'plan.answer',
  permission: 'plan:approve',
  input: planAnswer.extend(answerOfPlan.shape),
  attempted: ({ answer, reason }) => ({ operation: answer, reason }),
  run: (context, { plan, answer, ...said }) => sayOfPlan(context, plan, answer, said),
});

export const runSnapshot = defineAction({
  id: 'run.snapshot',
  permission: 'outbox:read',
  input: ofRun,
  run: (context, { run }) => readRun(context, run),
});

export const startRun = defineAction({
  id: 'run.start',
  permission: 'event:operate',
  input: z.strictObject({ plan: z.uuid(), key: idempotencyKey, pace: runRequest.optional() }),
  attempted: () => ({ operation: 'run' }),
  run: (context, { plan, key, pace = {} }) => beginRun(context, { plan, pace, key }),
});

export const steerRun = defineAction({
  id: 'run.steer',
  permission: 'event:operate',
  input: runDeed,
  attempted: ({ deed }) => ({ operation: deed }),
  run: (context, { run, deed }) => changeRun(context, run, deed),
});

export const setPace = defineAction({
  id: 'run.pace',
  permission: 'event:operate',
  input: z.strictObject({ run: z.uuid(), pace: paceRequest }),
  attempted: () => ({ operation: 'pace' }),
  run: (context, { run, pace }) => changeRun(context, run, 'pace', pace),
});
