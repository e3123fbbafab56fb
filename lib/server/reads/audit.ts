import 'server-only';
import { listAudit as list } from '../../audit/list';
import type { AuditFilter, AuditPage } from '../../shared/model';
import type { Store } from '../../store/store';

/** A page of the audit, newest first. */
export function listAudit(store: Store, filter: AuditFilter, page: { cursor?: string; limit: number }): Promise<AuditPage> {
  return list(store, filter, page);
}
