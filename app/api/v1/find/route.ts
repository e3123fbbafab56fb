import { readFound } from '@/lib/server/reads/find';
import { defineRoute } from '@/lib/server/route';
import { findQuery } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.find',
  permission: 'outbox:read',
  query: findQuery,
  run: (context, { query }) => readFound(context, query.key),
});
