import { beginRun } from '@/lib/server/reads/runs';
import { defineRoute } from '@/lib/server/route';
import { ofPlan, requireKey, runRequest } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.plan.run',
  permission: 'event:operate',
  params: ofPlan,
  body: runRequest,
  attempted: () => ({ operation: 'run' }),
  run: async (context, { params, body, request }) => {
    const sent = request.headers.get('idempotency-key') ?? '';
    const key = requireKey(sent, 'Send an Idempotency-Key header, so that a repeat starts nothing more');
    return Response.json(await beginRun(context, { plan: params.plan, pace: body, key }), { status: 201 });
  },
});
