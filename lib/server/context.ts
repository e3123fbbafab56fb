import 'server-only';
import { cookies, headers } from 'next/headers';
import type { NextRequest } from 'next/server';
import { cache } from 'react';
import { DatabaseFailure } from '@/lib/database/failure';
import type { Language } from '@/lib/messages/languages.gen';
import { LOCALE_COOKIE, TIME_ZONE_COOKIE } from '@/lib/shared/preferences';
import { can, onlyReads, type Actor, type Permission } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { stopwatch } from '@/lib/shared/async/stopwatch';
import { identify, type Identification } from './auth/session';
import { originProblem, publicOrigin } from './auth/origin';
import { getConsole, type Console } from './console';
import { chooseLanguage, chooseTimeZone } from './language';
import { newReference } from './problem-response';

/** What an entry point runs with, once it is allowed to run. */
export interface Context {
  console: Console;
  actor: Actor;
  requestId: string;
  elapsedMs: () => number;
  locale: Language;
  timeZone: string;
}

export interface Asker extends Omit<Context, 'actor'>, Identification {
  headers: Headers;
}

/** Thrown before any outbox is read: no observed database is the cause. */
const STORE_AWAY = "The console's own store does not answer, and who is asking is known there alone: try again in a moment";

async function askerOf(sent: Headers, cookie: (name: string) => string | undefined, permission: Permission): Promise<Asker> {
  const elapsedMs = stopwatch();
  const console = await getConsole();
  const { actor, by } = await identify(console.askers, sent, cookie, !onlyReads(permission)).catch((error: unknown) => {
    throw error instanceof DatabaseFailure ? new Problem('unavailable', STORE_AWAY, { ofStore: true, cause: error }) : error;
  });
  return {
    console,
    actor,
    by,
    headers: sent,
    requestId: newReference(),
    elapsedMs,
    locale: chooseLanguage(cookie(LOCALE_COOKIE), sent.get('accept-language')),
    timeZone: chooseTimeZone(cookie(TIME_ZONE_COOKIE)),
  };
}

/** Who asks for a page or action that needs this permission, and their language and time zone. Once per rendered page. */
export const askerOfRequest = cache(async (permission: Permission): Promise<Asker> => {
  const jar = await cookies();
  return askerOf(await headers(), (name) => jar.get(name)?.value, permission);
});

export const askerOfRoute = (request: NextRequest, permission: Permission): Promise<Asker> =>
  askerOf(request.headers, (name) => request.cookies.get(name)?.value, permission);

/** The context of an asker with this permission; a cookie's change must come from us. Throws Problem `unauthenticated`, `forbidden`. */
export function authorise({ by, headers: sent, ...asker }: Asker, permission: Permission, changes: boolean): Context {
  const { actor } = asker;
  if (actor === null) throw new Problem('unauthenticated', 'Sign in, or send a valid token as Authorization: Bearer');
  const foreign = changes && by === 'cookie' ? originProblem(sent, publicOrigin()) : null;
  if (foreign !== null) throw new Problem('forbidden', foreign);
  if (!can(actor.role, permission)) throw new Problem('forbidden', `The role ${actor.role} may not do this`);
  return { ...asker, actor };
}
