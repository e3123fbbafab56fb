import { switchChanges } from '@/lib/server/reads/changes';
import { defineRoute } from '@/lib/server/route';
import { changesRequest, ofOutbox } from '@/lib/server/schemas';

export const PUT = defineRoute({
  id: 'api.changes',
  permission: 'mapping:prove',
  params: ofOutbox,
  body: changesRequest,
  attempted: ({ params, body: { on, reason } }) => ({ operation: on ? 'turn_changes_on' : 'turn_changes_off', ...params, reason }),
  run: (context, { params, body }) => switchChanges(context, params.outbox, body),
});
