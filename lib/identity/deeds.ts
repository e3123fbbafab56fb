/** What happens to accounts, tokens and sign-ins, as entries of the audit. They are of no outbox. */
import { entryId } from '@/lib/audit/entry-id';
import type { Who } from '@/lib/shared/permissions';
import { recordDeed } from '@/lib/store/audit';
import type { StoreDb } from '@/lib/store/store';

/** Whoever may run a command may read the configuration with its passwords; the audit is told that it was this way. */
export const COMMAND_LINE: Who = { id: 'command', name: 'command line', role: '' };

type Values = Record<string, string | null>;

const QUARTER_MS = 15 * 60_000;

/** Adds that somebody could not sign in to an account: the first failure of each quarter of an hour stands for all. */
export async function recordFailedSignIn(db: StoreDb, who: Who, code: 'wrong' | 'disabled' | 'too_many', after: Values): Promise<void> {
  const quarter = Math.floor(Date.now() / QUARTER_MS);
  const id = entryId(`sign_in_failed/${who.id}`, quarter);
  // Whoever it was had no role.
  await recordDeed(db, { ...who, role: '' }, { id, operation: 'sign_in_failed', outcome: 'refused', code, after });
}
