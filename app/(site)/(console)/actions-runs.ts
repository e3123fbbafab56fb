'use server';

import { z } from 'zod';
import { defineAction, defineSnapshot } from '@/lib/server/action';
import type { Context } from '@/lib/server/context';
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

export const planSnapshot = defineSnapshot('plan.snapshot', ofPlan, (context, { plan }) => readPlanSnapshot(context, plan));

export const plansSnapshot = defineSnapshot('plans.snapshot', z.strictObject({}), (context) => readPlansSnapshot(context));

export const approvalsSnapshot = defineSnapshot('approvals.snapshot', z.strictObject({}), (context) => readApprovals(context));

const answered = planAnswer.extend({ plan: z.uuid() });
const answerToPlan = (answer: 'approve' | 'refuse') => ({
  input: answered,
  attempted: ({ reason }: z.infer<typeof answered>) => ({ operation: answer, reason }),
  run: (context: Context, { plan, ...said }: z.infer<typeof answered>) => sayOfPlan(context, plan, answer, said),
});

export const approvePlan = defineAction({ id: 'plan.approve', permission: 'plan:approve', ...answerToPlan('approve') });
export const refusePlan = defineAction({ id: 'plan.refuse', permission: 'plan:approve', ...answerToPlan('refuse') });

export const runSnapshot = defineSnapshot('run.snapshot', ofRun, (context, { run }) => readRun(context, run));

export const startRun = defineAction({
  id: 'run.start',
  permission: 'event:operate',
  input: z.strictObject({ plan: z.uuid(), key: idempotencyKey, pace: runRequest.optional() }),
  attempted: () => ({ operation: 'run' }),
  run: (context, { plan, key, pace = {} }) => beginRun(context, { plan, pace, key }),
});

const deedOfRun = (deed: 'pause' | 'resume' | 'cancel') => ({
  input: ofRun,
  attempted: () => ({ operation: deed }),
  run: (context: Context, { run }: z.infer<typeof ofRun>) => changeRun(context, run, deed),
});

export const pauseRun = defineAction({ id: 'run.pause', permission: 'event:operate', ...deedOfRun('pause') });
export const resumeRun = defineAction({ id: 'run.resume', permission: 'event:operate', ...deedOfRun('resume') });
export const cancelRun = defineAction({ id: 'run.cancel', permission: 'event:operate', ...deedOfRun('cancel') });

export const setPace = defineAction({
  id: 'run.pace',
  permission: 'event:operate',
  input: z.strictObject({ run: z.uuid(), pace: paceRequest }),
  attempted: () => ({ operation: 'pace' }),
  run: (context, { run, pace }) => changeRun(context, run, 'pace', pace),
});
