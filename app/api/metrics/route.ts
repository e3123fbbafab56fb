import { readMetrics } from '@/lib/server/reads/figures';
import { defineRoute } from '@/lib/server/route';
import { nothing } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.metrics',
  permission: 'outbox:read',
  openWhen: (config) => config.metrics.anonymous,
  query: nothing,
  run: ({ console }) => readMetrics(console),
});
