/** API tokens: long random text, of which only the hash is stored. */
import { createHash, randomBytes } from 'node:crypto';
import type { Actor, Who } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { findApiToken, insertApiToken, revokeApiToken } from '@/lib/store/api-tokens';
import type { Store } from '@/lib/store/store';
import { recordDeed } from '@/lib/store/audit';
import { COMMAND_LINE, roleOf } from './accounts';

const PREFIX = 'obx_';
const RANDOM_BYTES = 32;
/** Enough to recognise a token, far too little to guess the rest. */
const SHOWN = 8;

export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');

type NewToken = { name: string; role: string; days?: number; given?: string };

/** Creates a token for `days` and returns it, only this once. Throws Problem `invalid`, or `conflict` if a valid one has the name. */
export async function createToken(store: Store, input: NewToken, by: Who = COMMAND_LINE): Promise<string> {
  const name = input.name.trim();
  if (name === '' || name.length > 120 || /\p{Cc}/u.test(name)) {
    const fields = { name: 'write 1 to 120 characters in one line' };
    throw new Problem('invalid', 'Give the token a name of 1 to 120 characters in one line', { fields });
  }
  const role = roleOf(input.role);
  const token = input.given ?? `${PREFIX}${randomBytes(RANDOM_BYTES).toString('base64url')}`;
  const { days = null } = input;
  await store.db.transaction().execute(async (db) => {
    const id = await insertApiToken(db, { name, role, hash: tokenHash(token), prefix: token.slice(0, SHOWN), days });
    if (id === null) throw new Problem('conflict', `There is already a token ${name}; revoke it or choose another name`);
    await recordDeed(db, by, { operation: 'token_created', after: { name, role, days: days === null ? null : String(days) } });
  });
  return token;
}

/** Revokes a token: changes are refused at once, reads when caches expire (`known-askers.ts`). Throws Problem `not_found`. */
export async function revokeToken(store: Store, name: string): Promise<void> {
  await store.db.transaction().execute(async (db) => {
    const role = await revokeApiToken(db, name.trim());
    if (role === null) throw new Problem('not_found', `There is no live token ${name}`);
    await recordDeed(db, COMMAND_LINE, { operation: 'token_revoked', before: { name: name.trim(), role } });
  });
}

/** The actor of a token; null if unknown, revoked or expired. The lookup by hash reveals nothing by its timing. */
export async function actorOfToken(store: Store, token: string): Promise<Actor | null> {
  const found = await findApiToken(store.db, tokenHash(token));
  return found === null ? null : { id: `token:${found.id}`, name: found.name, role: found.role, kind: 'token' };
}
