import { z } from 'zod';
import { endMark } from '@/lib/server/reads/marks';
import { defineRoute } from '@/lib/server/route';

export const DELETE = defineRoute({
  id: 'api.mark',
  permission: 'mark:write',
  params: z.object({ mark: z.uuid('write the id of a mark') }),
  attempted: () => ({ operation: 'unmark' }),
  run: (context, { params }) => endMark(context, params.mark),
});
