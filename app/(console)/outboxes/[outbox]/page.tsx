import type { Metadata } from 'next';
import { OutboxScreen } from '@/components/outbox/outbox-screen';
import { definePage } from '@/lib/server/page';
import { readOutbox } from '@/lib/server/reads/figures';
import { parseChartView } from '@/lib/shared/figures/chart-view';
import { toSearchParams } from '@/lib/shared/lists/event-filter';
import { can } from '@/lib/shared/permissions';
import { markOutbox, outboxSnapshot, typeTrends, unmarkOutbox } from './actions';

export async function generateMetadata({ params }: { params: Promise<{ outbox: string }> }): Promise<Metadata> {
  return { title: (await params).outbox };
}

export default definePage({
  id: 'page.outbox',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '' }, searchParams }) => {
    const view = parseChartView(toSearchParams(searchParams));
    return (
      <OutboxScreen
        outbox={outbox}
        view={view}
        initial={await readOutbox(context, outbox, view.window, view)}
        action={outboxSnapshot}
        trendsAction={typeTrends}
        markAction={can(context.actor.role, 'mark:write') ? markOutbox : null}
        unmarkAction={can(context.actor.role, 'mark:write') ? unmarkOutbox : null}
      />
    );
  },
});
