/** API tokens: long random text, of which only the hash is kept. */
import { createHash, randomBytes } from 'node:crypto';
import { isRole, ROLES, type Actor } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { findApiToken, insertApiToken, revokeApiToken, touchApiToken } from '@/lib/store/api-tokens';
import type { Store } from '@/lib/store/store';

const PREFIX = 'obx_';
const RANDOM_BYTES = 32;
/** Enough to recognise a token by, far too little to guess the rest. */
const SHOWN = 8;

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Creates a token and answers it: the only time it can be read. `given` sets its text instead of a random one.
 * Throws Problem `invalid`, or `conflict` when a live token has the name.
 */
export async function createToken(store: Store, input: { name: string; role: string; given?: string }): Promise<string> {
  const name = input.name.trim();
  if (name === '' || name.length > 120)
    throw new Problem('invalid', 'Give the token a name of 1 to 120 characters', { fields: { name: 'write 1 to 120 characters' } });
  if (!isRole(input.role)) throw new Problem('invalid', `There is no role ${JSON.stringify(input.role)}; use one of ${ROLES.join(', ')}`);
  const token = input.given ?? `${PREFIX}${randomBytes(RANDOM_BYTES).toString('base64url')}`;
  const id = await insertApiToken(store.db, { name, role: input.role, hash: hashOf(token), prefix: token.slice(0, SHOWN) });
  if (id === null) throw new Problem('conflict', `There is already a token ${name}; revoke it or choose another name`);
  return token;
}

/** Ends a token at once. Throws Problem `not_found`. */
export async function revokeToken(store: Store, name: string): Promise<void> {
  if (!(await revokeApiToken(store.db, name.trim()))) throw new Problem('not_found', `There is no live token ${name}`);
}

/** Who a token belongs to; null when it is unknown or revoked. Hashing first makes the lookup say nothing by its timing. */
export async function actorOfToken(store: Store, token: string): Promise<Actor | null> {
  const found = await findApiToken(store.db, hashOf(token));
  if (found === null) return null;
  await touchApiToken(store.db, found.id);
  return { id: `token:${found.id}`, name: found.name, role: found.role, kind: 'token' };
}
