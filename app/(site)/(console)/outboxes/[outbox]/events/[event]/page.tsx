import { EventScreen } from '@/components/event/event-screen';
import { definePage, titled } from '@/lib/server/page';
import { readEventDetail } from '@/lib/server/reads/event';
import { readOutboxInfo } from '@/lib/server/reads/outboxes';
import { eventSnapshot } from '../../../../actions';

export const generateMetadata = titled((_, { outbox = '', event = '' }) => `${event} · ${outbox}`);

export default definePage({
  id: 'page.event',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '', event = '' } }) => {
    const [info, initial] = await Promise.all([readOutboxInfo(context.console, outbox), readEventDetail(context, outbox, event)]);
    return <EventScreen key={`${outbox} ${event}`} outbox={info} initial={initial} load={eventSnapshot} />;
  },
});
