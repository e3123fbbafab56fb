import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { DeadLettersScreen } from '@/components/dead-letters/dead-letters-screen';
import { definePage } from '@/lib/server/page';
import { parseEventFilter, toSearchParams } from '@/lib/shared/event-filter';
import { can } from '@/lib/shared/permissions';
import { deadLettersSnapshot, freezeDeadLetters } from '../../../dead-letters/actions';
import { firstDeadLettersSnapshot } from '../../../dead-letters/read';
import { checkIntervention, intervene, previewIntervention } from '../../../intervention-actions';

export async function generateMetadata({ params }: { params: Promise<{ outbox: string }> }): Promise<Metadata> {
  return { title: (await getTranslations('deadLetters'))('of', { outbox: decodeURIComponent((await params).outbox) }) };
}

export default definePage({
  id: 'page.outbox-dead-letters',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '' }, searchParams }) => {
    const search = toSearchParams(searchParams);
    const { type, error, order } = parseEventFilter(search).filter;
    return (
      <DeadLettersScreen
        outbox={outbox}
        filter={{ type, error, order }}
        cursor={search.get('cursor')}
        mayOperate={can(context.actor.role, 'event:operate')}
        initial={await firstDeadLettersSnapshot(context, outbox, search.toString())}
        load={deadLettersSnapshot}
        freeze={freezeDeadLetters}
        actions={{ preview: previewIntervention, intervene, check: checkIntervention }}
      />
    );
  },
});
