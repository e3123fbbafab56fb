import { NextIntlClientProvider } from 'next-intl';
import { ProofScreen } from '@/components/proof/proof-screen';
import { definePage, titled } from '@/lib/server/page';
import { readProof } from '@/lib/server/reads/changes';
import { readOutboxInfo } from '@/lib/server/reads/outboxes';
import { can } from '@/lib/shared/permissions';
import { proveMapping, turnChanges } from '../../../actions';

export const generateMetadata = titled((words, { outbox = '' }) => words('proof.of', { outbox }));

export default definePage({
  id: 'page.outbox-settings',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '' } }) => {
    const [{ id, name, database, table }, status] = await Promise.all([
      readOutboxInfo(context.console, outbox),
      readProof(context, outbox),
    ]);
    return (
      <NextIntlClientProvider>
        <ProofScreen
          outbox={{ id, name, database, table }}
          initial={status}
          actions={can(context.actor.role, 'mapping:prove') ? { prove: proveMapping, turn: turnChanges } : null}
        />
      </NextIntlClientProvider>
    );
  },
});
