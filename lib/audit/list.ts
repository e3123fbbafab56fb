import { UUID } from '@/lib/database/column-text';
import { parseInstant } from '@/lib/shared/lists/event-filter';
import type { AuditFilter, AuditPage } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { selectAuditEntries, type AuditPosition } from '@/lib/store/audit';
import type { Store } from '@/lib/store/store';

/** A page of the audit, newest first. `limit` 1 to 200. Throws Problem `invalid` for a cursor that is not the audit's. */
export async function listAudit(
  store: Store,
  filter: AuditFilter,
  page: { cursor?: string; limit: number; by?: 'line' | 'action' },
): Promise<Omit<AuditPage, 'lacks'>> {
  const position = page.cursor === undefined ? null : decode(page.cursor);
  const entries = await selectAuditEntries(store.db, filter, position, page.limit + 1, page.by);
  const shown = entries.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    asOf: new Date().toISOString(),
    entries: shown,
    nextCursor: entries.length > page.limit && last !== undefined ? Buffer.from(`${last.at} ${last.id}`).toString('base64url') : null,
  };
}

function decode(cursor: string): AuditPosition {
  const [written = '', id = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const at = parseInstant(written);
  if (typeof at !== 'string' || !UUID.test(id)) {
    throw new Problem('invalid', 'This cursor does not belong to the audit: start again without it', {
      fields: { cursor: 'not a cursor of the audit' },
    });
  }
  return { at, id };
}
