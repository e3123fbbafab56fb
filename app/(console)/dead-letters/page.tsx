import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { DeadLettersScreen } from '@/components/dead-letters/dead-letters-screen';
import { definePage } from '@/lib/server/page';
import { parseEventFilter, toSearchParams } from '@/lib/shared/event-filter';
import { can } from '@/lib/shared/permissions';
import { checkIntervention, intervene, previewIntervention } from '../intervention-actions';
import { deadLettersSnapshot, freezeDeadLetters } from './actions';
import { firstDeadLettersSnapshot } from './read';

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('deadLetters'))('title') };
}

export default definePage({
  id: 'page.dead-letters',
  permission: 'outbox:read',
  render: async (context, { searchParams }) => {
    const search = toSearchParams(searchParams);
    const { type, error, order } = parseEventFilter(search).filter;
    return (
      <DeadLettersScreen
        outbox={null}
        filter={{ type, error, order }}
        cursor={null}
        mayOperate={can(context.actor.role, 'event:operate')}
        initial={await firstDeadLettersSnapshot(context, null, search.toString())}
        load={deadLettersSnapshot}
        freeze={freezeDeadLetters}
        actions={{ preview: previewIntervention, intervene, check: checkIntervention }}
      />
    );
  },
});
