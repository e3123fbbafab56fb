/** What happens to accounts, tokens and sign-ins, as entries of the audit. They are of no outbox. */
import { uuidv7 } from 'uuidv7';
import { entryId } from '@/lib/audit/entry-id';
import type { Who } from '@/lib/shared/permissions';
import { insertAuditEntries } from '@/lib/store/audit';
import type { StoreDb } from '@/lib/store/store';

/** Whoever may run a command may read the configuration with its passwords; the audit is told that it was this way. */
export const COMMAND_LINE: Who = { id: 'command', name: 'command line', role: '' };

type Values = Record<string, string | null>;

interface Deed {
  operation: 'sign_in' | 'account_created' | 'account_changed' | 'token_created' | 'token_revoked';
  before?: Values;
  after?: Values;
}

/** Adds the entry; in the transaction of what it tells of. */
export function recordDeed(db: StoreDb, who: Who, { operation, before, after }: Deed): Promise<number> {
  return insertAuditEntries(db, [
    { ...entry(who), id: uuidv7(), operation, outcome: 'applied', code: null, before: before ?? null, after: after ?? null },
  ]);
}

const QUARTER_MS = 15 * 60_000;

/** Adds that somebody could not sign in to an account: the first failure of each quarter of an hour stands for all. */
export async function recordFailedSignIn(db: StoreDb, who: Who, code: 'wrong' | 'disabled' | 'too_many', after: Values): Promise<void> {
  const quarter = Math.floor(Date.now() / QUARTER_MS);
  const id = entryId(`sign_in_failed/${who.id}`, quarter);
  // Whoever it was had no role.
  await insertAuditEntries(db, [
    { ...entry({ ...who, role: '' }), id, operation: 'sign_in_failed', outcome: 'refused', code, before: null, after },
  ]);
}

const entry = (who: Who) => ({
  at: new Date().toISOString(),
  actorId: who.id,
  actor: who.name,
  role: who.role,
  outbox: null,
  eventId: null,
  eventType: null,
  aggregateId: null,
  reason: '',
  interventionId: null,
});
