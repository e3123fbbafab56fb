import { readEvents, readEventsQuery } from '@/lib/server/reads/events';
import { defineRoute } from '@/lib/server/route';
import { ofOutbox } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.events',
  permission: 'outbox:read',
  params: ofOutbox,
  query: null,
  run: (context, { params, request }) => {
    const { filter, cursor, limit } = readEventsQuery(request.nextUrl.searchParams);
    return readEvents(context, params.outbox, filter, { cursor, limit });
  },
});
