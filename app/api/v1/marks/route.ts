import { addMark, readMarks } from '@/lib/server/reads/marks';
import { defineRoute } from '@/lib/server/route';
import { markRequest, marksQuery, requireKey } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.marks',
  permission: 'outbox:read',
  query: marksQuery,
  run: (context, { query }) => readMarks(context, query),
});

export const POST = defineRoute({
  id: 'api.marks',
  permission: 'mark:write',
  body: markRequest,
  attempted: ({ body }) => ({ operation: 'mark', outbox: body.outbox, reason: body.text }),
  run: (context, { body, request }) => {
    const sent = request.headers.get('idempotency-key');
    return addMark(context, body, sent === null ? null : requireKey(sent, 'The Idempotency-Key cannot be used'));
  },
});
