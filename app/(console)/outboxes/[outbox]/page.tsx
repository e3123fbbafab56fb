import type { Metadata } from 'next';
import { OutboxScreen } from '@/components/outbox/outbox-screen';
import { definePage } from '@/lib/server/page';
import { readOutbox } from '@/lib/server/reads/figures';
import { DEFAULT_WINDOW, isWindow } from '@/lib/shared/windows';
import { outboxSnapshot } from './actions';

export async function generateMetadata({ params }: { params: Promise<{ outbox: string }> }): Promise<Metadata> {
  return { title: (await params).outbox };
}

export default definePage({
  id: 'page.outbox',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '' }, searchParams }) => {
    const window = isWindow(searchParams.window) ? searchParams.window : DEFAULT_WINDOW;
    return <OutboxScreen outbox={outbox} window={window} initial={await readOutbox(context, outbox, window)} action={outboxSnapshot} />;
  },
});
