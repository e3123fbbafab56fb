import { changeRun } from '@/lib/server/reads/runs';
import { defineRoute } from '@/lib/server/route';
import { nothing, ofRun } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.run.resume',
  permission: 'event:operate',
  params: ofRun,
  query: nothing,
  attempted: () => ({ operation: 'resume' }),
  run: (context, { params }) => changeRun(context, params.run, 'resume'),
});
