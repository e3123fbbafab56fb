import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { AuditScreen } from '@/components/audit/audit-screen';
import { definePage } from '@/lib/server/page';
import { RECORDED_OPERATIONS } from '@/lib/server/reads/audit';
import { parseAuditFilter } from '@/lib/shared/lists/audit-filter';
import { toSearchParams } from '@/lib/shared/lists/event-filter';
import { auditSnapshot } from './actions';
import { readAuditPage } from './read';

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('audit'))('title') };
}

export default definePage({
  id: 'page.audit',
  permission: 'audit:read',
  render: async (context, { searchParams }) => {
    const search = toSearchParams(searchParams);
    return (
      <AuditScreen
        filter={parseAuditFilter(search)}
        cursor={search.get('cursor')}
        operations={RECORDED_OPERATIONS}
        initial={await readAuditPage(context, search.toString())}
        load={auditSnapshot}
      />
    );
  },
});
