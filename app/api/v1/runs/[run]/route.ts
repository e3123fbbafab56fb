import { readRun } from '@/lib/server/reads/runs';
import { defineRoute } from '@/lib/server/route';
import { nothing, ofRun } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.run',
  permission: 'outbox:read',
  params: ofRun,
  query: nothing,
  run: (context, { params }) => readRun(context, params.run),
});
