'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { outboxId } from '@/lib/server/schemas';
import { readDeadLettersSnapshot } from './read';

/** The dead letters of one outbox, or of all. */
export const deadLettersSnapshot = defineAction({
  id: 'dead-letters.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({ outbox: outboxId.nullable(), query: z.string().max(16_000) }),
  run: (context, { outbox, query }) => readDeadLettersSnapshot(context, outbox, query),
});
