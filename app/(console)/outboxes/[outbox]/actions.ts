'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { readOutbox } from '@/lib/server/reads/figures';
import { outboxId, windowSchema } from '@/lib/server/schemas';

/** One outbox with its figures and their history over a window, at most 5 s old. */
export const outboxSnapshot = defineAction({
  id: 'outbox.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({ outbox: outboxId, window: windowSchema }),
  run: (context, { outbox, window }) => readOutbox(context, outbox, window),
});
