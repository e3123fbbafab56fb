'use server';

import { defineAction } from '@/lib/server/action';
import { findEvents } from '@/lib/server/reads/events';
import { eventId } from '@/lib/server/schemas';

/** The events of this id, wherever they are. */
export const findEvent = defineAction({
  id: 'palette.find-event',
  permission: 'outbox:read',
  input: eventId,
  run: (context, id) => findEvents(context, id),
});
