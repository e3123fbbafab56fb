import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { ProofScreen } from '@/components/proof/proof-screen';
import { definePage } from '@/lib/server/page';
import { readOutboxInfo } from '@/lib/server/reads/outboxes';
import { readProof } from '@/lib/server/reads/changes';
import { can } from '@/lib/shared/permissions';
import { proveMapping, allowChanges } from './actions';

export async function generateMetadata({ params }: { params: Promise<{ outbox: string }> }): Promise<Metadata> {
  return { title: (await getTranslations('proof'))('of', { outbox: decodeURIComponent((await params).outbox) }) };
}

export default definePage({
  id: 'page.outbox-settings',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '' } }) => {
    const [info, status] = await Promise.all([readOutboxInfo(context.console, outbox), readProof(context, outbox)]);
    return (
      <ProofScreen
        outbox={{ id: info.id, name: info.name, database: info.database, table: info.table }}
        initial={status}
        actions={can(context.actor.role, 'mapping:prove') ? { prove: proveMapping, turn: allowChanges } : null}
      />
    );
  },
});
