'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { freezeDeadLetters as readFrozen } from '@/lib/server/reads/dead-letters';
import { cursorSchema, outboxId } from '@/lib/server/schemas';
import { parseEventFilter } from '@/lib/shared/lists/event-filter';
import { readDeadLettersSnapshot } from './read';

/** The dead letters of one outbox, or of all. */
export const deadLettersSnapshot = defineAction({
  id: 'dead-letters.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({ outbox: outboxId.nullable(), query: z.string().max(16_000) }),
  run: (context, { outbox, query }) => readDeadLettersSnapshot(context, outbox, query),
});

/** The next dead events of a list, as they are now, to be acted on together; filter as the screen's URL writes it. */
export const freezeDeadLetters = defineAction({
  id: 'dead-letters.freeze',
  permission: 'event:operate',
  input: z.strictObject({
    outbox: outboxId,
    query: z.string().max(16_000),
    of: z.strictObject({ type: z.string().max(1_000).nullable(), error: z.string().max(2_000).nullable() }).nullable(),
    cursor: cursorSchema,
  }),
  run: (context, { outbox, query, of, cursor }) => {
    const { type, error, cause, order = 'newest' } = parseEventFilter(new URLSearchParams(query)).filter;
    return readFrozen(context, outbox, { order, type, error, cause, of, cursor });
  },
});
