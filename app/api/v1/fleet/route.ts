import { readFleet } from '@/lib/server/reads/figures';
import { defineRoute } from '@/lib/server/route';

export const GET = defineRoute({ id: 'api.fleet', permission: 'outbox:read', query: null, run: (context) => readFleet(context) });
