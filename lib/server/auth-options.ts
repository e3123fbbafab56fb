import 'server-only';
import { isIP } from 'node:net';
import type { NextAuthOptions } from 'next-auth';
import CredentialsProvider from 'next-auth/providers/credentials';
import { environment } from '@/lib/env';
import { checkPassword } from '@/lib/identity/accounts';
import { actorOfSession, beginSession, endSession } from '@/lib/identity/sessions';
import type { Console } from './console';
import { log } from './log';
import { ownPath, publicOrigin } from './origin';
import { sessionCookieName } from './session-cookie';

/** What `authorize` hands to the `jwt` callback. */
interface SignedIn {
  id: string;
  sid: string;
}

/** What the sign-in page is told; its words are `login.errors.<code>`. */
export type SignInFailure = 'CredentialsSignin' | 'disabled' | 'too_many' | 'unavailable';

const failure = (code: SignInFailure): Error => new Error(code);

/** The address a sign-in comes from: what the nearest proxy says, which Next fills in when there is none. */
export function addressOf(headers: Record<string, unknown> | undefined): string {
  const forwarded = headers?.['x-forwarded-for'];
  const nearest = typeof forwarded === 'string' ? (forwarded.split(',').at(-1)?.trim() ?? '') : '';
  return isIP(nearest) === 0 ? 'unknown' : nearest;
}

async function signIn(
  console: Console,
  email: string,
  password: string,
  address: string,
  previousSid: string | null,
): Promise<SignedIn | null> {
  const checked = await checkPassword(console.store, { email, password, address });
  if (!checked.ok) {
    log().warn({ email: email.slice(0, 254), address, why: checked.why }, 'sign-in refused');
    if (checked.why === 'wrong') return null;
    throw failure(checked.why);
  }
  const sid = await beginSession(console.store, checked.accountId, console.config.auth.sessionHours);
  if (sid === null) throw failure('disabled');
  // Whoever had this browser before has no business with what comes now.
  if (previousSid !== null) await endSession(console.store, previousSid);
  log().info({ email: checked.email, address }, 'signed in');
  return { id: checked.accountId, sid };
}

/**
 * How next-auth works here: password accounts, a signed cookie that names a session of the store. The cookie holds no
 * role and takes nothing from the client; every use asks the store.
 */
export function authOptions(console: Console, previousSid: string | null): NextAuthOptions {
  const origin = publicOrigin();
  const secure = origin.startsWith('https://');
  const maxAge = Math.round(console.config.auth.sessionHours * 3_600);
  return {
    secret: environment().secret,
    useSecureCookies: secure,
    session: { strategy: 'jwt', maxAge },
    pages: { signIn: '/login', signOut: '/login', error: '/login' },
    cookies: {
      sessionToken: { name: sessionCookieName(origin), options: { httpOnly: true, sameSite: 'lax', path: '/', secure } },
    },
    providers: [
      CredentialsProvider({
        credentials: { email: { type: 'email' }, password: { type: 'password' } },
        async authorize(credentials, request): Promise<SignedIn | null> {
          const { email, password } = credentials ?? {};
          if (typeof email !== 'string' || typeof password !== 'string') return null;
          try {
            return await signIn(console, email, password, addressOf(request.headers), previousSid);
          } catch (error) {
            const message = error instanceof Error ? error.message : '';
            if (message === 'disabled' || message === 'too_many') throw error;
            if (message.startsWith('too_many')) throw failure('too_many');
            log().error({ err: error }, 'a sign-in could not be checked');
            throw failure('unavailable');
          }
        },
      }),
    ],
    callbacks: {
      redirect: ({ url, baseUrl }) => `${baseUrl}${ownPath(url, new URL(baseUrl).origin)}`,
      async jwt({ token, user }) {
        // `session` of an update comes from the client: nothing is ever taken from it.
        const signedIn = user as SignedIn | undefined;
        if (signedIn !== undefined) return { sub: signedIn.id, sid: signedIn.sid };
        if ((await actorOfSession(console.store, token.sid)) === null) throw new Error('The session has ended');
        return { sub: token.sub, sid: token.sid };
      },
      async session({ session, token }) {
        const actor = await actorOfSession(console.store, token.sid);
        return { expires: session.expires, user: actor === null ? undefined : { name: actor.name } };
      },
    },
    events: {
      async signOut({ token }) {
        await endSession(console.store, token.sid);
      },
    },
    logger: {
      error: (code, metadata) => log().debug({ code, metadata }, 'next-auth'),
      warn: (code) => log().debug({ code }, 'next-auth'),
      debug: () => undefined,
    },
  };
}
