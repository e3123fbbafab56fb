'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { readOutbox } from '@/lib/server/reads/figures';
import { outboxId, typeSchema, windowSchema } from '@/lib/server/schemas';
import { spanSchema } from '@/lib/server/series-query';

/** One outbox with its figures over a window, and the history its charts show, at most 5 s old. */
export const outboxSnapshot = defineAction({
  id: 'outbox.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({ outbox: outboxId, window: windowSchema, span: spanSchema, type: typeSchema.optional() }),
  run: (context, { outbox, window, ...query }) => readOutbox(context, outbox, window, query),
});
