import { changeRun } from '@/lib/server/reads/runs';
import { defineRoute } from '@/lib/server/route';
import { ofRun, paceRequest } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.run.pace',
  permission: 'event:operate',
  params: ofRun,
  body: paceRequest,
  attempted: () => ({ operation: 'pace' }),
  run: (context, { params, body }) => changeRun(context, params.run, 'pace', body),
});
