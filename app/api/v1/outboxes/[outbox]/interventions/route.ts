import { Problem } from '@/lib/shared/problems';
import { runIntervention } from '@/lib/server/reads/changes';
import { defineRoute } from '@/lib/server/route';
import { idempotencyKey, interventionRequest, ofOutbox, nothing } from '@/lib/server/schemas';

export const POST = defineRoute({
  id: 'api.intervene',
  permission: 'event:operate',
  params: ofOutbox,
  query: nothing,
  body: interventionRequest,
  attempted: ({ params, body }) => ({
    operation: body.operation,
    outbox: params.outbox,
    events: body.events.map((event) => event.id),
    reason: body.reason,
  }),
  run: (context, { params, body, request }) => {
    const key = idempotencyKey.safeParse(request.headers.get('idempotency-key') ?? '');
    if (!key.success) {
      throw new Problem('invalid', 'Send an Idempotency-Key header, so that a repeat changes nothing more', {
        fields: { 'Idempotency-Key': key.error.issues[0]?.message ?? 'missing' },
      });
    }
    return runIntervention(context, { outbox: params.outbox, request: body, key: key.data });
  },
});
