import { noteCause } from '@/lib/server/reads/causes';
import { defineRoute } from '@/lib/server/route';
import { causeNoteRequest } from '@/lib/server/schemas';

export const PUT = defineRoute({
  id: 'api.causes.note',
  permission: 'event:operate',
  params: causeNoteRequest.pick({ outbox: true, cause: true }),
  body: causeNoteRequest.pick({ note: true }),
  attempted: ({ params, body }) => ({ operation: 'cause_note', outbox: params.outbox, reason: body.note }),
  run: (context, { params, body }) => noteCause(context, { ...params, ...body }),
});
