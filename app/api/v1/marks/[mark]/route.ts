import { z } from 'zod';
import { endMark } from '@/lib/server/reads/marks';
import { defineRoute } from '@/lib/server/route';
import { nothing } from '@/lib/server/schemas';

export const DELETE = defineRoute({
  id: 'api.mark',
  permission: 'mark:write',
  params: z.object({ mark: z.uuid('write the id of a mark') }),
  query: nothing,
  attempted: () => ({ operation: 'unmark' }),
  run: (context, { params }) => endMark(context, params.mark),
});
