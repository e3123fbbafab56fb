import 'server-only';
import { listAudit } from '@/lib/audit/list';
import { OPERATIONS } from '@/lib/interventions/operation-registry.gen';
import { maskText } from '@/lib/outbox/mask-text';
import type { AuditEntry, AuditFilter, AuditPage } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import type { Context } from '../context';

/** What an entry can be about: changes to events, marks put on the charts or taken off, findings silenced or not. */
export const RECORDED_OPERATIONS: readonly string[] = [
  ...OPERATIONS.map(({ key }) => key),
  'mark',
  'unmark',
  'prove',
  'turn_changes_on',
  'turn_changes_off',
  'doctor_silence',
  'doctor_lift',
];

/** A page of the audit, newest first; what columns quote is hidden from roles that may not see it. */
export async function readAudit(context: Context, filter: AuditFilter, page: { cursor?: string; limit: number }): Promise<AuditPage> {
  const found = await listAudit(context.console.store, filter, page);
  return can(context.actor.role, 'payload:unmask') ? found : { ...found, entries: found.entries.map(presentEntry) };
}

export function presentEntry(entry: AuditEntry): AuditEntry {
  const masked = (columns: AuditEntry['before']): AuditEntry['before'] =>
    columns === null
      ? null
      : Object.fromEntries(Object.entries(columns).map(([name, value]) => [name, value === null ? null : maskText(value)]));
  return { ...entry, before: masked(entry.before), after: masked(entry.after) };
}
