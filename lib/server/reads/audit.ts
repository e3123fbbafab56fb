import 'server-only';
import { listAudit } from '@/lib/audit/list';
import { OPERATIONS } from '@/lib/interventions/operations';
import { hiddenFields, type HiddenField } from '@/lib/outbox/masking/hidden-fields';
import { maskErrors } from '@/lib/outbox/masking/hidden-in-errors';
import { maskText } from '@/lib/outbox/masking/mask-text';
import { lacksOf } from '@/lib/shared/changes/carrying';
import { parseAuditFilter } from '@/lib/shared/lists/audit-filter';
import { MASK } from '@/lib/shared/lists/shown';
import { PAGE_LIMIT_DEFAULT, type AuditEntry, type AuditFilter, type AuditPage } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';
import { seesAll } from './shown';
import { onOutbox } from './outboxes';

/** What an entry can be about: changes to events, marks put on the charts or taken off, findings silenced or not, and who got in. */
export const RECORDED_OPERATIONS: readonly string[] = [
  ...OPERATIONS.map(({ key }) => key),
  ...['mark', 'unmark', 'prove', 'turn_changes_on', 'turn_changes_off', 'doctor_silence', 'doctor_lift', 'sign_in', 'sign_in_failed'],
  ...['account_created', 'account_changed', 'token_created', 'token_revoked'],
];

/** A page of the audit; filter and cursor as the screen's URL writes them. */
export const readAuditPage = (context: Context, search: URLSearchParams): Promise<AuditPage> =>
  readAudit(context, parseAuditFilter(search), { cursor: search.get('cursor') ?? undefined, limit: PAGE_LIMIT_DEFAULT });

/** A page of the audit, newest first; what columns quote, and where people sign in from, is hidden from roles that may not see it. */
export async function readAudit(context: Context, filter: AuditFilter, page: { cursor?: string; limit: number }): Promise<AuditPage> {
  const listed = await listAudit(context.console.store, filter, page);
  const found = withoutAddresses(context, { ...listed, lacks: lacksOf(context.console.carrier.carrying()) });
  if (seesAll(context)) return found;
  const { directory } = context.console;
  const ofEvents = found.entries.filter(({ eventId, before, after }) => eventId !== null && (before ?? after) !== null);
  const outboxes = [...new Set(ofEvents.flatMap(({ outbox }) => outbox ?? []))];
  const readerOf = async (id: string) => {
    const own = ofEvents.filter(({ outbox }) => outbox === id);
    return [id, await columnReader(context, id, own)] as const;
  };
  const readers = new Map(await Promise.all(outboxes.map(readerOf)));
  const presented = (entry: AuditEntry, columns: Columns | null): Columns | null => {
    const reader = entry.eventId === null ? undefined : readers.get(entry.outbox ?? '');
    const present = (name: string, value: string): string =>
      // Of no outbox: names of accounts and tokens, which are actors' names too.
      entry.outbox === null ? value : (reader?.(entry, name, value) ?? maskText(value));
    return columns && Object.fromEntries(Object.entries(columns).map(([name, value]) => [name, value && present(name, value)]));
  };
  // Of an outbox that is no longer configured nobody can say what is masked.
  const hidden = (id: string | null): ReadonlySet<HiddenField> =>
    id !== null && directory.ids.includes(id) ? hiddenFields(directory.settings(id)) : new Set<HiddenField>(['type', 'aggregateId']);
  const entries = found.entries.map((entry) => {
    const not = hidden(entry.outbox);
    return {
      ...entry,
      eventType: not.has('type') ? null : entry.eventType,
      aggregateId: not.has('aggregateId') ? null : entry.aggregateId,
      before: presented(entry, entry.before),
      after: presented(entry, entry.after),
    };
  });
  return { ...found, entries };
}

/** Everybody sees that somebody signed in; from which address, only who manages accounts, and oneself. */
function withoutAddresses({ actor }: Context, page: AuditPage): AuditPage {
  if (can(actor.role, 'account:manage')) return page;
  const hidden = (entry: AuditEntry): AuditEntry =>
    SIGN_INS.has(entry.operation) && !(actor.kind === 'account' && entry.actor === actor.name) ? { ...entry, after: null } : entry;
  return { ...page, entries: page.entries.map(hidden) };
}

const SIGN_INS = new Set(['sign_in', 'sign_in_failed']);

type Columns = NonNullable<AuditEntry['before']>;
/** What is shown of a column's value; null where it is no error. */
type ColumnReader = (entry: AuditEntry, name: string, value: string) => string | null;

/** How records of one outbox's events are shown: errors as on the page of the event; all withheld while its database cannot be asked. */
async function columnReader(context: Context, id: string, entries: AuditEntry[]): Promise<ColumnReader> {
  try {
    return await onOutbox(context, id, async (outbox) => {
      const names = [outbox.main, outbox.dead].flatMap((place) => place?.roles.error?.column.name ?? []);
      const quotes = entries.flatMap(({ eventId, before, after }) =>
        [before, after].flatMap((columns) => names.map((name) => ({ id: eventId ?? '', error: columns?.[name] ?? null }))),
      );
      const masked = await maskErrors(outbox, quotes);
      const shown = new Map(quotes.map((quote, index) => [keyOf(quote.id, quote.error), masked[index]?.error ?? null]));
      return (entry, name, value) => (names.includes(name) ? (shown.get(keyOf(entry.eventId, value)) ?? MASK) : null);
    });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return () => MASK;
  }
}

const keyOf = (eventId: string | null, text: string | null): string => JSON.stringify([eventId, text]);
