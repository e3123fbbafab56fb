/** Who is behind a session or a token, remembered for seconds; what changes something asks the store itself, so that it is refused at once. */
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import type { Actor } from '@/lib/shared/permissions';
import { touchApiToken } from '@/lib/store/api-tokens';
import type { Store } from '@/lib/store/store';
import { findLiveSession, revokeSession } from '@/lib/store/sign-ins';
import { actorOfToken, tokenHash } from './tokens';

/** So long a screen may go on reading after its session was ended elsewhere, in milliseconds. */
const REMEMBERED_MS = 10_000;
/** Beyond so many askers the one asked about longest ago is forgotten. */
const REMEMBERED_MAX = 2_000;
const USE_NOTED_MS = 60_000;

export type KnownAskers = ReturnType<typeof knownAskers>;

interface Options {
  now?: () => number;
  /** That a token was used could not be noted: no reason to refuse who used it. */
  onUnnoted(error: unknown): void;
}

export function knownAskers(store: Store, { now = Date.now, onUnnoted }: Options) {
  /** In the order they were asked about. */
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
    // An unknown asker is not remembered, so that guesses take no room; a failure is asked again.
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
    /** null when the session is over. `fresh`: as the store has it now. Rejects with DatabaseFailure when the store does not answer. */
    ofSession: (sid: string, fresh: boolean) => ask(`session ${sid}`, fresh, () => actorOfSession(store, sid)),
    async ofToken(token: string, fresh: boolean): Promise<Actor | null> {
      const actor = await ask(`token ${tokenHash(token)}`, fresh, () => actorOfToken(store, token));
      if (actor !== null) noteUse(actor);
      return actor;
    },
    /** Ends a session, here at once. */
    async signOut(sid: unknown): Promise<void> {
      await endSession(store, sid);
      remembered.delete(`session ${String(sid)}`);
    },
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Who a session belongs to; null when it was revoked, is over, or the account was disabled or changed since. */
export async function actorOfSession(store: Store, sid: unknown): Promise<Actor | null> {
  if (typeof sid !== 'string' || !UUID.test(sid)) return null;
  const session = await findLiveSession(store.db, sid);
  return session === null ? null : { id: `account:${session.accountId}`, name: session.email, role: session.role, kind: 'account' };
}

/** Ends a session at once, in every tab and replica. */
export async function endSession(store: Store, sid: unknown): Promise<void> {
  if (typeof sid === 'string' && UUID.test(sid)) await revokeSession(store.db, sid);
}
