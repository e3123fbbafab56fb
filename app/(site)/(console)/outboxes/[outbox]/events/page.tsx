import { cookies } from 'next/headers';
import { chosenColumns, COLUMNS_COOKIE } from '@/components/events/columns';
import { EventsScreen } from '@/components/events/events-screen';
import { definePage, titled } from '@/lib/server/page';
import { firstEvents } from '@/lib/server/reads/events';
import { readOutboxInfo } from '@/lib/server/reads/outboxes';
import { within } from '@/lib/shared/async/within';
import { eventsSnapshot } from '../../../actions';

/** Suggestions for the type filter come from the shared reading, if it is there within this time. */
const SUGGESTIONS_WITHIN_MS = 100;

export const generateMetadata = titled((words, { outbox = '' }) => words('events.tableLabel', { outbox }));

export default definePage({
  id: 'page.events',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '' }, search }) => {
    const seen = context.console.snapshots.summary(outbox, '1h').catch(() => null);
    const [info, first, summary, jar] = await Promise.all([
      readOutboxInfo(context.console, outbox),
      firstEvents(context, outbox, search),
      within(seen, SUGGESTIONS_WITHIN_MS),
      cookies(),
    ]);
    return (
      <EventsScreen
        outbox={info}
        {...first}
        columns={chosenColumns(search.get('columns'), jar.get(COLUMNS_COOKIE)?.value ?? null, info.capabilities)}
        columnsInUrl={search.get('columns')}
        types={summary?.byType.map(({ type }) => type) ?? []}
        load={eventsSnapshot}
      />
    );
  },
});
