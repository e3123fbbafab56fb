import { z } from 'zod';
import { readMetrics } from '@/lib/server/reads/figures';
import { defineRoute } from '@/lib/server/route';

/** For Prometheus. */
export const GET = defineRoute({
  id: 'api.metrics',
  permission: 'outbox:read',
  openWhen: (config) => config.metrics.anonymous,
  query: z.strictObject({}),
  run: ({ console }) => readMetrics(console),
});
