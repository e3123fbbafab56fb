import 'server-only';
import { cookies, headers } from 'next/headers';
import { cache } from 'react';
import type { Language } from '../messages/languages.gen';
import { LOCALE_COOKIE, TIME_ZONE_COOKIE } from '../shared/preferences';
import { can, type Actor, type Permission } from '../shared/permissions';
import { Problem } from '../shared/problems';
import { identify, type Identification } from './actor';
import { getConsole, type Console } from './console';
import { chooseLanguage, chooseTimeZone } from './language';
import { newReference } from './problem-response';

/** What an entry point is run with, once it is known that it may be run. */
export interface Context {
  console: Console;
  actor: Actor;
  /** Finds this request's lines in the log. */
  requestId: string;
  locale: Language;
  timeZone: string;
}

export interface Asker extends Identification {
  console: Console;
  headers: Headers;
  requestId: string;
  locale: Language;
  timeZone: string;
}

/** Who is asking, and how they like to read. Once per rendered page; a request otherwise. */
export const askerOfRequest = cache(async (): Promise<Asker> => {
  const [jar, sent, console] = [await cookies(), await headers(), await getConsole()];
  const { actor, by } = await identify(console.store, sent, (name) => jar.get(name)?.value);
  return {
    console,
    actor,
    by,
    headers: sent,
    requestId: newReference(),
    locale: chooseLanguage(jar.get(LOCALE_COOKIE)?.value, sent.get('accept-language')),
    timeZone: chooseTimeZone(jar.get(TIME_ZONE_COOKIE)?.value),
  };
});

/** The context of somebody who may do this. Throws Problem `unauthenticated` or `forbidden`. */
export function authorise(asker: Asker, permission: Permission): Context {
  const { console, actor, requestId, locale, timeZone } = asker;
  if (actor === null) throw new Problem('unauthenticated', 'Sign in, or send a valid token');
  if (!can(actor.role, permission)) throw new Problem('forbidden', `The role ${actor.role} may not do this`);
  return { console, actor, requestId, locale, timeZone };
}
