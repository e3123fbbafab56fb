import { exportExaminations, readDoctor } from '@/lib/server/reads/doctor';
import { defineRoute } from '@/lib/server/route';
import { doctorQuery } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.doctor',
  permission: 'outbox:read',
  query: doctorQuery,
  run: async (context, { query: { outbox, format } }) => {
    const snapshot = await readDoctor(context, outbox);
    return format === 'json' ? snapshot : exportExaminations(context, snapshot, format);
  },
});
