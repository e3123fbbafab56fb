'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { readOutbox, readTypeTrends } from '@/lib/server/reads/figures';
import { addMark, endMark } from '@/lib/server/reads/marks';
import { idempotencyKey, markRequest, outboxId, typeSchema, windowSchema } from '@/lib/server/schemas';
import { spanSchema } from '@/lib/server/series-query';
import { TREND_TYPES_MAX } from '@/lib/shared/figures/chart-view';

/** One outbox with its figures over a window, and the history its charts show, at most 5 s old. */
export const outboxSnapshot = defineAction({
  id: 'outbox.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({ outbox: outboxId, window: windowSchema, span: spanSchema, type: typeSchema.optional() }),
  run: (context, { outbox, window, ...query }) => readOutbox(context, outbox, window, query),
});

/** How the flow of some types went over a window. */
export const typeTrends = defineAction({
  id: 'outbox.type-trends',
  permission: 'outbox:read',
  input: z.strictObject({ outbox: outboxId, window: windowSchema, types: z.array(typeSchema).max(TREND_TYPES_MAX) }),
  run: (context, { outbox, window, types }) => readTypeTrends(context, outbox, window, types),
});

/** Puts a deploy, an incident or a note on the charts, once per key. */
export const markOutbox = defineAction({
  id: 'outbox.mark',
  permission: 'mark:write',
  input: z.strictObject({ mark: markRequest, key: idempotencyKey }),
  attempted: ({ mark }) => ({ operation: 'mark', outbox: mark.outbox, reason: mark.text }),
  run: (context, { mark, key }) => addMark(context, mark, key),
});

/** Takes a mark off the charts. */
export const unmarkOutbox = defineAction({
  id: 'outbox.unmark',
  permission: 'mark:write',
  input: z.strictObject({ outbox: outboxId, mark: z.uuid() }),
  attempted: ({ outbox }) => ({ operation: 'unmark', outbox }),
  run: (context, { mark }) => endMark(context, mark),
});
