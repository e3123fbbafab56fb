import { readProof, runProof } from '@/lib/server/reads/changes';
import { defineRoute } from '@/lib/server/route';
import { ofOutbox, proofRequest } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.proof',
  permission: 'outbox:read',
  params: ofOutbox,
  run: (context, { params }) => readProof(context, params.outbox),
});

export const POST = defineRoute({
  id: 'api.proof',
  permission: 'mapping:prove',
  params: ofOutbox,
  body: proofRequest,
  attempted: ({ params }) => ({ operation: 'prove', outbox: params.outbox }),
  run: (context, { params, body }) => runProof(context, params.outbox, body.events),
});
