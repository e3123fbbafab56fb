import { readiness } from '@/lib/server/readiness';
import { defineRoute } from '@/lib/server/route';

export const GET = defineRoute({ id: 'health.ready', public: true, query: null, run: readiness });
