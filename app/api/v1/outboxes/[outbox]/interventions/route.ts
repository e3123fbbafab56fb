import { runIntervention } from '@/lib/server/reads/changes';
import { defineRoute } from '@/lib/server/route';
import { interventionRequest, ofOutbox, requireKey } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.intervene',
  permission: 'event:operate',
  params: ofOutbox,
  body: interventionRequest,
  attempted: ({ params, body }) => ({ ...params, ...body }),
  run: (context, { params, body, request }) => {
    const sent = request.headers.get('idempotency-key') ?? '';
    const key = requireKey(sent, 'Send an Idempotency-Key header, so that a repeat changes nothing more');
    return runIntervention(context, { outbox: params.outbox, request: body, key });
  },
});
