import { readRun } from '@/lib/server/reads/runs';
import { defineRoute } from '@/lib/server/route';
import { ofRun } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.run',
  permission: 'outbox:read',
  params: ofRun,
  run: (context, { params }) => readRun(context, params.run),
});
