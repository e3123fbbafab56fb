import { AuditScreen } from '@/components/audit/audit-screen';
import { definePage, titled } from '@/lib/server/page';
import { readAuditPage, RECORDED_OPERATIONS } from '@/lib/server/reads/audit';
import { parseAuditFilter } from '@/lib/shared/lists/audit-filter';
import { auditSnapshot } from '../actions';

export const generateMetadata = titled((words) => words('audit.title'));

export default definePage({
  id: 'page.audit',
  permission: 'audit:read',
  render: async (context, { search }) => (
    <AuditScreen
      filter={parseAuditFilter(search)}
      cursor={search.get('cursor')}
      operations={RECORDED_OPERATIONS}
      initial={await readAuditPage(context, search)}
      load={auditSnapshot}
    />
  ),
});
