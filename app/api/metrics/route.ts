import { readMetrics } from '@/lib/server/reads/figures';
import { defineRoute } from '@/lib/server/route';

export const GET = defineRoute({
  id: 'api.metrics',
  permission: 'outbox:read',
  openWhen: (config) => config.metrics.anonymous,
  run: ({ console }) => readMetrics(console),
});
