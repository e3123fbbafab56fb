import { Problem } from '@/lib/shared/problems';
import { addMark, readMarks } from '@/lib/server/reads/marks';
import { defineRoute } from '@/lib/server/route';
import { idempotencyKey, markRequest, marksQuery, nothing } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.marks',
  permission: 'outbox:read',
  query: marksQuery,
  run: (context, { query }) => readMarks(context, query),
});

export const POST = defineRoute({
  id: 'api.marks',
  permission: 'mark:write',
  query: nothing,
  body: markRequest,
  attempted: ({ body }) => ({ operation: 'mark', outbox: body.outbox, reason: body.text }),
  run: (context, { body, request }) => {
    const sent = request.headers.get('idempotency-key');
    const key = idempotencyKey.nullable().safeParse(sent);
    if (!key.success) {
      throw new Problem('invalid', 'The Idempotency-Key cannot be used', {
        fields: { 'Idempotency-Key': key.error.issues[0]?.message ?? 'wrong' },
      });
    }
    return addMark(context, body, key.data);
  },
});
