import { defineRoute } from '@/lib/server/route';

/** The process runs. Touches no database. */
export const GET = defineRoute({ id: 'health.live', public: true, query: null, run: async () => ({ status: 'live' }) });
