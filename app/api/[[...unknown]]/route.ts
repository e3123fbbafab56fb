import { defineRoute } from '@/lib/server/route';
import { Problem } from '@/lib/shared/problems';

/** An unknown address gets a problem like any other error, not a page. */
const unknown = defineRoute({
  id: 'api.unknown',
  permission: 'outbox:read',
  query: null,
  run: () => Promise.reject(new Problem('not_found', 'There is no such address; docs/http.md lists them')),
});

export { unknown as DELETE, unknown as GET, unknown as PATCH, unknown as POST, unknown as PUT };
