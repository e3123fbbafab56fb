import { cookies, headers } from 'next/headers';
import { getRequestConfig } from 'next-intl/server';
import { loadMessages } from '@/lib/messages/languages.gen';
import { LOCALE_COOKIE, TIME_ZONE_COOKIE } from '@/lib/shared/preferences';
import { PATH_HEADER } from './auth/cookies';
import { chooseLanguage, chooseTimeZone } from './language';

export default getRequestConfig(async () => {
  const [jar, sent] = [await cookies(), await headers()];
  const [path = '', search] = (sent.get(PATH_HEADER) ?? '').split('?');
  // A card's address names both: its page is the same for all who ask for the same one.
  const query = path.startsWith('/embed/') ? new URLSearchParams(search) : null;
  const [language, timeZone] = query
    ? [query.get('lang')?.split('-')[0], query.get('tz') ?? undefined]
    : [jar.get(LOCALE_COOKIE)?.value, jar.get(TIME_ZONE_COOKIE)?.value];
  const locale = chooseLanguage(language, sent.get('accept-language'));
  return { locale, timeZone: chooseTimeZone(timeZone), messages: await loadMessages(locale) };
});
