import { readiness } from '@/lib/server/readiness';
import { defineRoute } from '@/lib/server/route';

/** Whether configuration, store and migrations are good; outbox databases are not checked. */
export const GET = defineRoute({ id: 'health.ready', public: true, run: readiness });
