import { OutboxScreen } from '@/components/outbox/outbox-screen';
import { definePage, titled } from '@/lib/server/page';
import { readOutbox } from '@/lib/server/reads/figures';
import { parseChartView } from '@/lib/shared/figures/chart-view';
import { can } from '@/lib/shared/permissions';
import { markOutbox, outboxSnapshot, typeTrends, unmarkOutbox } from '../../actions';

export const generateMetadata = titled((_, { outbox = '' }) => outbox);

export default definePage({
  id: 'page.outbox',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '' }, search }) => {
    const view = parseChartView(search);
    return (
      <OutboxScreen
        outbox={outbox}
        view={view}
        initial={await readOutbox(context, outbox, view.window, view)}
        action={outboxSnapshot}
        trendsAction={typeTrends}
        marking={can(context.actor.role, 'mark:write') ? { mark: markOutbox, unmark: unmarkOutbox } : null}
      />
    );
  },
});
