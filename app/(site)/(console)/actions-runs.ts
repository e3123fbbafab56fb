'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { makePlan as freezePlan, readApprovals, readPlansSnapshot, readPlanSnapshot, sayOfPlan } from '@/lib/server/reads/plans';
import { beginRun, changeRun, readRun } from '@/lib/server/reads/runs';
import { idempotencyKey, ofPlan, ofRun, outboxId, paceRequest, planAnswer, planRequest, runRequest } from '@/lib/server/schemas';

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

export const pauseRun = defineAction({
  id: 'run.pause',
  permission: 'event:operate',
  input: ofRun,
  attempted: () => ({ operation: 'pause' }),
  run: (context, { run }) => changeRun(context, run, 'pause'),
});

export const resumeRun = defineAction({
  id: 'run.resume',
  permission: 'event:operate',
  input: ofRun,
  attempted: () => ({ operation: 'resume' }),
  run: (context, { run }) => changeRun(context, run, 'resume'),
});

export const cancelRun = defineAction({
  id: 'run.cancel',
  permission: 'event:operate',
  input: ofRun,
  attempted: () => ({ operation: 'cancel' }),
  run: (context, { run }) => changeRun(context, run, 'cancel'),
});

export const setPace = defineAction({
  id: 'run.pace',
  permission: 'event:operate',
  input: z.strictObject({ run: z.uuid(), pace: paceRequest }),
  attempted: () => ({ operation: 'pace' }),
  run: (context, { run, pace }) => changeRun(context, run, 'pace', pace),
});
