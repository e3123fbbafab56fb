import 'server-only';
import { listAudit as list } from '@/lib/audit/list';
import type { AuditFilter, AuditPage } from '@/lib/shared/model';
import type { Store } from '@/lib/store/store';

/** A page of the audit, newest first. */
export function listAudit(store: Store, filter: AuditFilter, page: { cursor?: string; limit: number }): Promise<AuditPage> {
  return list(store, filter, page);
}
