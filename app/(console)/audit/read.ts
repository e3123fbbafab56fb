import type { Context } from '@/lib/server/context';
import { readAudit } from '@/lib/server/reads/audit';
import { parseAuditFilter } from '@/lib/shared/lists/audit-filter';
import { PAGE_LIMIT_DEFAULT, type AuditPage } from '@/lib/shared/model';

/** A page of the audit; filter and cursor as the screen's URL writes them. */
export function readAuditPage(context: Context, query: string): Promise<AuditPage> {
  const search = new URLSearchParams(query);
  return readAudit(context, parseAuditFilter(search), { cursor: search.get('cursor') ?? undefined, limit: PAGE_LIMIT_DEFAULT });
}
