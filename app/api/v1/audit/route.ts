import { readAudit } from '@/lib/server/reads/audit';
import { defineRoute } from '@/lib/server/route';
import { auditQuery } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.audit',
  permission: 'audit:read',
  query: auditQuery,
  run: (context, { query: { cursor, limit, by, ...filter } }) => readAudit(context, filter, { cursor, limit, by }),
});
