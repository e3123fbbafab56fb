import { changeRun } from '@/lib/server/reads/runs';
import { defineRoute } from '@/lib/server/route';
import { nothing, runDeed } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.run.steer',
  permission: 'event:operate',
  params: runDeed,
  query: nothing,
  attempted: ({ params }) => ({ operation: params.deed }),
  run: (context, { params }) => changeRun(context, params.run, params.deed),
});
