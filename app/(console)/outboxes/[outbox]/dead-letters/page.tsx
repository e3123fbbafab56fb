import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { DeadLettersScreen } from '@/components/dead-letters/dead-letters-screen';
import { definePage } from '@/lib/server/page';
import { toSearchParams } from '@/lib/shared/lists/event-filter';
import { deadLettersSnapshot, freezeDeadLetters } from '../../../dead-letters/actions';
import { deadLettersView, firstDeadLettersSnapshot } from '../../../dead-letters/read';

export async function generateMetadata({ params }: { params: Promise<{ outbox: string }> }): Promise<Metadata> {
  return { title: (await getTranslations('deadLetters'))('of', { outbox: decodeURIComponent((await params).outbox) }) };
}

export default definePage({
  id: 'page.outbox-dead-letters',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '' }, searchParams }) => {
    const { query, ...view } = deadLettersView(context, outbox, toSearchParams(searchParams));
    return (
      <DeadLettersScreen
        outbox={outbox}
        {...view}
        initial={await firstDeadLettersSnapshot(context, outbox, query)}
        load={deadLettersSnapshot}
        freeze={freezeDeadLetters}
      />
    );
  },
});
