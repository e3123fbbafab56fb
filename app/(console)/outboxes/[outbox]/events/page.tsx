import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { cookies } from 'next/headers';
import { chosenColumns, COLUMNS_COOKIE } from '@/components/events/columns';
import { EventsScreen } from '@/components/events/events-screen';
import type { EventsSnapshot } from '@/lib/shared/lists/snapshots';
import type { Context } from '@/lib/server/context';
import { definePage } from '@/lib/server/page';
import { readEvents } from '@/lib/server/reads/events';
import { filtersHidden, visibleFilter } from '@/lib/server/reads/shown';
import { readOutboxInfo } from '@/lib/server/reads/outboxes';
import { parseEventFilter, toSearchParams } from '@/lib/shared/lists/event-filter';
import { PAGE_LIMIT_DEFAULT, type EventFilter } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { eventsSnapshot } from './actions';

export async function generateMetadata({ params }: { params: Promise<{ outbox: string }> }): Promise<Metadata> {
  return { title: (await getTranslations('events'))('tableLabel', { outbox: decodeURIComponent((await params).outbox) }) };
}

export default definePage({
  id: 'page.events',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '' }, searchParams }) => {
    const search = toSearchParams(searchParams);
    const { filter, errors } = visibleFilter(context, [outbox], parseEventFilter(search));
    const cursor = search.get('cursor');
    const [info, initial, types, jar] = await Promise.all([
      readOutboxInfo(context.console, outbox),
      firstSnapshot(context, outbox, filter, cursor),
      typesSeen(context, outbox),
      cookies(),
    ]);
    return (
      <EventsScreen
        outbox={info}
        filter={filter}
        errors={errors}
        hiddenFilters={filtersHidden(context, [outbox])}
        cursor={cursor}
        columns={chosenColumns(search.get('columns'), jar.get(COLUMNS_COOKIE)?.value ?? null, info.capabilities)}
        columnsInUrl={search.get('columns')}
        types={types}
        initial={initial}
        load={eventsSnapshot}
      />
    );
  },
});

/** A filter that reads too much, or a source that is down, leaves the screen standing: its filter is what helps. */
async function firstSnapshot(context: Context, outbox: string, filter: EventFilter, cursor: string | null): Promise<EventsSnapshot> {
  try {
    const page = await readEvents(context, outbox, filter, { cursor: cursor ?? undefined, limit: PAGE_LIMIT_DEFAULT });
    return { asOf: page.asOf, page, problem: null };
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'not_found') throw error;
    return { asOf: null, page: null, problem: { code: error.code, reference: error.reference } };
  }
}

/** Suggestions for the type filter come from the shared reading, and only when they are there at once. */
async function typesSeen({ console }: Context, outbox: string): Promise<string[]> {
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), SUGGESTIONS_WITHIN_MS));
  const summary = await Promise.race([console.snapshots.summary(outbox, '1h').catch(() => null), late]);
  return summary?.byType.map(({ type }) => type) ?? [];
}

const SUGGESTIONS_WITHIN_MS = 100;
