import { z } from 'zod';
import { interventionById } from '@/lib/server/reads/changes';
import { defineRoute } from '@/lib/server/route';

export const GET = defineRoute({
  id: 'api.intervention',
  permission: 'audit:read',
  params: z.object({ intervention: z.uuid('write the id of an intervention') }),
  run: (context, { params }) => interventionById(context, params.intervention),
});
