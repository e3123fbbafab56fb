import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { DeadLettersScreen } from '@/components/dead-letters/dead-letters-screen';
import { definePage } from '@/lib/server/page';
import { toSearchParams } from '@/lib/shared/lists/event-filter';
import { deadLettersSnapshot, freezeDeadLetters } from './actions';
import { deadLettersView, firstDeadLettersSnapshot } from './read';

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('deadLetters'))('title') };
}

export default definePage({
  id: 'page.dead-letters',
  permission: 'outbox:read',
  render: async (context, { searchParams }) => {
    const { query, ...view } = deadLettersView(context, null, toSearchParams(searchParams));
    return (
      <DeadLettersScreen
        outbox={null}
        {...view}
        initial={await firstDeadLettersSnapshot(context, null, query)}
        load={deadLettersSnapshot}
        freeze={freezeDeadLetters}
      />
    );
  },
});
