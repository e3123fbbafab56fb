import { makePlan } from '@/lib/server/reads/plans';
import { defineRoute } from '@/lib/server/route';
import { nothing, ofOutbox, planRequest, requireKey } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.plan',
  permission: 'event:operate',
  params: ofOutbox,
  query: nothing,
  body: planRequest,
  attempted: ({ params, body }) => ({ ...params, operation: 'plan', reason: body.reason }),
  run: async (context, { params, body, request }) => {
    const sent = request.headers.get('idempotency-key') ?? '';
    const key = requireKey(sent, 'Send an Idempotency-Key header, so that a repeat makes no second plan');
    return Response.json(await makePlan(context, params.outbox, body, key), { status: 201 });
  },
});
