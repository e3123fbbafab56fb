import 'server-only';
import type { NextAuthOptions } from 'next-auth';
import CredentialsProvider from 'next-auth/providers/credentials';
import { environment } from '@/lib/env';
import type { Place } from '@/lib/identity/limiter';
import { actorOfSession } from '@/lib/identity/known-askers';
import { signIn as checkAndBegin } from '@/lib/identity/sign-in';
import { BASE_PATH } from '@/lib/shared/base-path';
import { Problem } from '@/lib/shared/problems';
import type { Console } from '../console';
import { log } from '../log';
import { ownPath, publicOrigin } from './origin';
import { cookieName, sessionCookieName } from './cookies';

type SignedIn = Record<'id' | 'sid', string>;

/** The codes that the sign-in page gets; their texts are `login.errors.<code>`. */
export type SignInFailure = 'CredentialsSignin' | 'disabled' | 'too_many' | 'unavailable';

const failure = (code: SignInFailure): Error => new Error(code);

export interface Browser extends Place {
  /** The session its cookie names, which a new sign-in ends. */
  previousSid: string | null;
  onSignIn(): void;
  /** The session lives on: next-auth takes a sign-out for done all the same. */
  onNotEnded(error: unknown): void;
}

async function signIn(console: Console, email: string, password: string, browser: Browser): Promise<SignedIn | null> {
  const { address } = browser;
  const signed = await checkAndBegin(console.store, { ...browser, email, password }, console.config.auth.sessionHours);
  if (!signed.ok) {
    // Without the e-mail address: people type their password there.
    log().warn({ address, why: signed.why }, 'sign-in refused');
    if (signed.why === 'wrong') return null;
    throw failure(signed.why);
  }
  // The browser's previous session may be another person's.
  if (browser.previousSid !== null) await console.askers.signOut(browser.previousSid);
  browser.onSignIn();
  log().info({ email: signed.email, address }, 'signed in');
  return { id: signed.accountId, sid: signed.sid };
}

/** Password accounts, and a signed cookie that names a session in the store: it holds no role, and every use reads the store. */
export function authOptions(console: Console, browser: Browser): NextAuthOptions {
  const origin = publicOrigin();
  const secure = origin.startsWith('https://');
  const login = `${BASE_PATH}/login`;
  const options = { httpOnly: true, sameSite: 'lax', path: '/', secure };
  return {
    secret: environment().secret,
    useSecureCookies: secure,
    session: { strategy: 'jwt', maxAge: Math.round(console.config.auth.sessionHours * 3_600) },
    pages: { signIn: login, signOut: login, error: login },
    cookies: {
      sessionToken: { name: sessionCookieName(origin), options },
      // The host of a base path may use next-auth as well: under its usual names each would spoil the other's forms.
      ...(BASE_PATH !== '' && {
        csrfToken: { name: cookieName(origin, 'csrf'), options },
        callbackUrl: { name: cookieName(origin, 'callback'), options },
      }),
    },
    providers: [
      CredentialsProvider({
        credentials: { email: { type: 'email' }, password: { type: 'password' } },
        async authorize(credentials): Promise<SignedIn | null> {
          const { email, password } = credentials ?? {};
          if (typeof email !== 'string' || typeof password !== 'string') return null;
          return signIn(console, email, password, browser).catch((error: unknown) => {
            if (error instanceof Problem && error.code === 'too_many') throw failure('too_many');
            if (error instanceof Error && ['disabled', 'too_many'].includes(error.message)) throw error;
            log().error({ err: error }, 'a sign-in could not be checked');
            throw failure('unavailable');
          });
        },
      }),
    ],
    callbacks: {
      redirect: ({ url, baseUrl }) => `${baseUrl}${BASE_PATH}${ownPath(url, new URL(baseUrl).origin)}`,
      async jwt({ token, user }) {
        // `session` of an update comes from the client: it is never used.
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
    events: { signOut: ({ token }) => console.askers.signOut(token.sid).catch(browser.onNotEnded) },
    logger: {
      error: (code, metadata) => log().debug({ code, metadata }, 'next-auth'),
      warn: (code) => log().debug({ code }, 'next-auth'),
      debug: () => undefined,
    },
  };
}
