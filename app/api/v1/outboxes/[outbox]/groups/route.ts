import { readGroups } from '@/lib/server/reads/causes';
import { defineRoute } from '@/lib/server/route';
import { ofOutbox } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.groups',
  permission: 'outbox:read',
  params: ofOutbox,
  query: null,
  run: (context, { params }) => readGroups(context, params.outbox),
});
