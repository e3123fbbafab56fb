import type { Metadata } from 'next';
import { EventScreen } from '@/components/event/event-screen';
import { definePage } from '@/lib/server/page';
import { readEventDetail } from '@/lib/server/reads/event';
import { readOutboxInfo } from '@/lib/server/reads/outboxes';
import { eventSnapshot } from './actions';

export async function generateMetadata({ params }: { params: Promise<{ outbox: string; event: string }> }): Promise<Metadata> {
  const { outbox, event } = await params;
  return { title: `${decodeURIComponent(event)} · ${decodeURIComponent(outbox)}` };
}

export default definePage({
  id: 'page.event',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '', event = '' } }) => {
    const [info, initial] = await Promise.all([readOutboxInfo(context.console, outbox), readEventDetail(context, outbox, event)]);
    return <EventScreen key={`${outbox} ${event}`} outbox={info} initial={initial} load={eventSnapshot} />;
  },
});
