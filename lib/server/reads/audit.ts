import 'server-only';
import { listAudit } from '@/lib/audit/list';
import { OPERATIONS } from '@/lib/interventions/operations';
import { hiddenFields } from '@/lib/outbox/masking/hidden-fields';
import { maskErrors } from '@/lib/outbox/masking/hidden-in-errors';
import { maskText } from '@/lib/outbox/masking/mask-text';
import { lacksOf } from '@/lib/shared/changes/carrying';
import { parseAuditFilter } from '@/lib/shared/lists/audit-filter';
import { MASK } from '@/lib/shared/lists/shown';
import { PAGE_LIMIT_DEFAULT, type EventText, type AuditEntry, type AuditFilter, type AuditPage } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';
import { seesAll } from './shown';
import { onOutbox } from './outboxes';

/** What an entry can be about: changes to events, marks, proofs, silenced findings, notes on causes, sign-ins, accounts and tokens. */
export const RECORDED_OPERATIONS: readonly string[] = [
  ...OPERATIONS.map(({ key }) => key),
  ...['plan', 'approve', 'refuse', 'run', 'pause', 'resume', 'cancel', 'pace'],
  ...['mark', 'unmark', 'prove', 'turn_changes_on', 'turn_changes_off', 'doctor_silence', 'doctor_lift', 'cause_note'],
  ...['sign_in', 'sign_in_failed', 'account_created', 'account_changed', 'token_created', 'token_revoked'],
];

/** A page of the audit; filter and cursor as in the screen's URL. A line per action, or per event of one action, or of one event. */
export function readAuditPage(context: Context, search: URLSearchParams): Promise<AuditPage> {
  const filter = parseAuditFilter(search);
  const by = filter.action === undefined && filter.event === undefined ? 'action' : 'line';
  return readAudit(context, filter, { cursor: search.get('cursor') ?? undefined, limit: PAGE_LIMIT_DEFAULT, by });
}

/** A page of the audit, newest first; quoted column values and addresses of sign-ins are hidden from roles that may not see them. */
export async function readAudit(context: Context, filter: AuditFilter, page: Parameters<typeof listAudit>[2]): Promise<AuditPage> {
  const { store, carrier } = context.console;
  const listed = await listAudit(store, filter, page);
  const entries = listed.entries.map((entry) => (hidesAddress(context, entry) ? { ...entry, after: null } : entry));
  return { ...listed, entries: seesAll(context) ? entries : await masked(context, entries), lacks: lacksOf(carrier.carrying()) };
}

const SIGN_INS = new Set(['sign_in', 'sign_in_failed']);

/** Everyone sees that someone signed in; the address is only for managers of accounts, and for oneself. */
const hidesAddress = ({ actor }: Context, entry: AuditEntry): boolean =>
  SIGN_INS.has(entry.operation) && !can(actor.role, 'account:manage') && !(actor.kind === 'account' && entry.actor === actor.name);

/** Of a plan or a cause: by a hash or fingerprint a guess at what is masked could be tried, and a note may quote it. */
const TELLING = new Set(['hash', 'cause', 'note']);

async function masked(context: Context, entries: AuditEntry[]): Promise<AuditEntry[]> {
  const { directory } = context.console;
  const ofEvents = entries.filter(({ eventId, before, after }) => eventId !== null && (before ?? after) !== null);
  const outboxes = [...new Set(ofEvents.flatMap(({ outbox }) => outbox ?? []))];
  const readers = new Map(await Promise.all(outboxes.map(async (id) => [id, await columnReader(context, id, ofEvents)] as const)));
  return entries.map((entry) => {
    const { outbox, eventId, before, after } = entry;
    const reader = eventId === null ? undefined : readers.get(outbox ?? '');
    const read = (name: string, value: string): string => reader?.(entry, name, value) ?? maskText(value);
    // Without an outbox: names of accounts and tokens, which also appear as actors.
    const presented = (columns: Columns | null): Columns | null =>
      outbox === null
        ? columns
        : columns &&
          Object.fromEntries(
            Object.entries(columns).flatMap(([name, value]) =>
              eventId === null && TELLING.has(name) ? [] : [[name, value && read(name, value)]],
            ),
          );
    // What is masked is unknown for an outbox that is not configured.
    const known = outbox !== null && directory.ids.includes(outbox);
    const hidden: ReadonlySet<EventText> = known ? hiddenFields(directory.settings(outbox)) : new Set(['type', 'aggregateId']);
    return {
      ...entry,
      reason: entry.operation === 'cause_note' ? '' : entry.reason,
      eventType: hidden.has('type') ? null : entry.eventType,
      aggregateId: hidden.has('aggregateId') ? null : entry.aggregateId,
      before: presented(before),
      after: presented(after),
    };
  });
}

type Columns = NonNullable<AuditEntry['before']>;
/** A column's value as shown; null if it is not an error. */
type ColumnReader = (entry: AuditEntry, name: string, value: string) => string | null;

/** Shows records of one outbox's events: errors as on the event's page; all withheld while its database does not answer. */
async function columnReader(context: Context, id: string, entries: AuditEntry[]): Promise<ColumnReader> {
  try {
    return await onOutbox(context, id, async (outbox) => {
      const names = [outbox.main, outbox.dead].flatMap((place) => place?.roles.error?.column.name ?? []);
      const own = entries.filter((entry) => entry.outbox === id);
      const quotes = own.flatMap(({ eventId, before, after }) =>
        [before, after].flatMap((columns) => names.map((name) => ({ id: eventId ?? '', error: columns?.[name] ?? null }))),
      );
      const shown = await maskErrors(outbox, quotes);
      const errors = new Map(quotes.map((quote, index) => [keyOf(quote.id, quote.error), shown[index]?.error ?? null]));
      return ({ eventId }, name, value) => (names.includes(name) ? (errors.get(keyOf(eventId, value)) ?? MASK) : null);
    });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return () => MASK;
  }
}

const keyOf = (eventId: string | null, text: string | null): string => JSON.stringify([eventId, text]);
