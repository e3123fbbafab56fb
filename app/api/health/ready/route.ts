import { readiness } from '@/lib/server/readiness';
import { defineRoute } from '@/lib/server/route';

/** Configuration, store and migrations are good; outbox databases are not asked. */
export const GET = defineRoute({ id: 'health.ready', public: true, run: readiness });
