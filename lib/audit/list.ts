import type { AuditFilter, AuditPage } from '@/lib/shared/model';
import { selectAuditEntries } from '@/lib/store/audit';
import { pageOf, positionOf } from '@/lib/store/pages';
import type { Store } from '@/lib/store/store';

/** A page of the audit, newest first. `limit` 1 to 200. Throws Problem `invalid` for a cursor that is not the audit's. */
export async function listAudit(
  store: Store,
  filter: AuditFilter,
  page: { cursor?: string; limit: number; by?: 'line' | 'action' },
): Promise<Omit<AuditPage, 'lacks'>> {
  const rows = await selectAuditEntries(store.db, filter, positionOf(page.cursor, 'the audit'), page.limit + 1, page.by);
  const { shown: entries, nextCursor } = pageOf(rows, page.limit, (entry) => entry);
  return { asOf: new Date().toISOString(), entries, nextCursor };
}
