/** Caches the actor of a session or token for seconds; changes read the store instead, so that a revoked one is refused at once. */
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import type { Actor } from '@/lib/shared/permissions';
import { touchApiToken } from '@/lib/store/api-tokens';
import type { Store } from '@/lib/store/store';
import { findLiveSession, revokeSession } from '@/lib/store/sign-ins';
import { actorOfToken, tokenHash } from './tokens';

/** How long a screen may still read after its session was ended elsewhere, in milliseconds. */
const REMEMBERED_MS = 10_000;
/** Most actors cached; then the oldest is dropped. */
const REMEMBERED_MAX = 2_000;
const USE_NOTED_MS = 60_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export type KnownAskers = ReturnType<typeof knownAskers>;

/** `onUnnoted` is called if a token's use could not be recorded; the request goes on. */
export function knownAskers(store: Store, { now = Date.now, onUnnoted }: { now?: () => number; onUnnoted(error: unknown): void }) {
  /** In the order they were read from the store. */
  const remembered = new Map<string, { actor: Promise<Actor | null>; until: number }>();
  const notedAt = new Map<string, number>();

  function ask(key: string, fresh: boolean, find: () => Promise<Actor | null>): Promise<Actor | null> {
    const known = remembered.get(key);
    if (!fresh && known !== undefined && known.until > now()) return known.actor;
    const actor = outsideRequests(find);
    remembered.delete(key);
    remembered.set(key, { actor, until: now() + REMEMBERED_MS });
    const forget = (): void => {
      if (remembered.get(key)?.actor === actor) remembered.delete(key);
    };
    // Unknown sessions and tokens are not cached, so that guesses take no memory, nor are failures.
    actor.then((found) => found === null && forget(), forget);
    for (const [oldest] of remembered) if (remembered.size > REMEMBERED_MAX) remembered.delete(oldest);
    return actor;
  }

  /** At most once a minute: a busy script must not write a row per call. */
  function noteUse(actor: Actor): void {
    if (now() - (notedAt.get(actor.id) ?? -Infinity) < USE_NOTED_MS) return;
    notedAt.set(actor.id, now());
    void touchApiToken(store.db, actor.id.slice('token:'.length)).catch(onUnnoted);
  }

  return {
    /** null if the session is over. `fresh` reads the store. Rejects with DatabaseFailure if the store does not answer. */
    ofSession: (sid: string, fresh: boolean) => ask(`session ${sid}`, fresh, () => actorOfSession(store, sid)),
    async ofToken(token: string, fresh: boolean): Promise<Actor | null> {
      const actor = await ask(`token ${tokenHash(token)}`, fresh, () => actorOfToken(store, token));
      if (actor !== null) noteUse(actor);
      return actor;
    },
    /** Ends a session: for changes and here at once, for reads in other processes within REMEMBERED_MS. */
    async signOut(sid: unknown): Promise<void> {
      if (typeof sid === 'string' && UUID.test(sid)) await revokeSession(store.db, sid);
      remembered.delete(`session ${String(sid)}`);
    },
  };
}

/** The actor of a session; null if it was revoked, has expired, or its account was disabled or changed. */
export async function actorOfSession(store: Store, sid: unknown): Promise<Actor | null> {
  if (typeof sid !== 'string' || !UUID.test(sid)) return null;
  const session = await findLiveSession(store.db, sid);
  return session === null ? null : { id: `account:${session.accountId}`, name: session.email, role: session.role, kind: 'account' };
}
