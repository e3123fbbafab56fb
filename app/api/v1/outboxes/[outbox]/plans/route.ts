import { randomUUID } from 'node:crypto';
import { makePlan } from '@/lib/server/reads/plans';
import { defineRoute } from '@/lib/server/route';
import { ofOutbox, planRequest, requireKey } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.plan',
  permission: 'event:operate',
  params: ofOutbox,
  body: planRequest,
  attempted: ({ params, body }) => ({ ...params, operation: 'plan', reason: body.reason }),
  run: async (context, { params, body, request }) => {
    // Without one, each request makes a plan: nothing runs by it.
    const key = requireKey(request.headers.get('idempotency-key') ?? randomUUID(), 'The Idempotency-Key header is not one');
    return Response.json(await makePlan(context, params.outbox, body, key), { status: 201 });
  },
});
