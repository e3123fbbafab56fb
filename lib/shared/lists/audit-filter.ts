import { parseEventFilter } from './event-filter';
import type { AuditEntry, AuditFilter } from '../model';

export const AUDIT_OUTCOMES = ['applied', 'none', 'refused', 'unknown'] as const satisfies readonly AuditEntry['outcome'][];

const TEXT_FIELDS = ['outbox', 'event', 'actor', 'operation', 'action'] as const;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TEXT_MAX = 254;

/** Parses an audit filter from a query string; ignores invalid values, and the screen shows what is left. */
export function parseAuditFilter(params: URLSearchParams): AuditFilter {
  const filter: AuditFilter = {};
  for (const field of TEXT_FIELDS) {
    const value = params.get(field)?.trim();
    if (value && value.length <= TEXT_MAX && !value.includes('\0')) filter[field] = value;
  }
  // The id of any intervention of it.
  if (!UUID.test(filter.action ?? '')) delete filter.action;
  const outcome = AUDIT_OUTCOMES.find((known) => known === params.get('outcome'));
  if (outcome !== undefined) filter.outcome = outcome;
  const { from, to } = parseEventFilter(params).filter;
  if (from !== undefined) filter.from = from;
  if (to !== undefined) filter.to = to;
  return filter;
}

export function serialiseAuditFilter(filter: AuditFilter): URLSearchParams {
  const params = new URLSearchParams();
  for (const field of [...TEXT_FIELDS, 'outcome', 'from', 'to'] as const) {
    const value = filter[field];
    if (value) params.set(field, value);
  }
  return params;
}
