import { cookies, headers } from 'next/headers';
import { getRequestConfig } from 'next-intl/server';
import { loadMessages } from '@/lib/messages/languages.gen';
import { LOCALE_COOKIE, TIME_ZONE_COOKIE } from '@/lib/shared/preferences';
import { chooseLanguage, chooseTimeZone } from './language';

export default getRequestConfig(async () => {
  const [jar, sent] = [await cookies(), await headers()];
  const locale = chooseLanguage(jar.get(LOCALE_COOKIE)?.value, sent.get('accept-language'));
  return { locale, timeZone: chooseTimeZone(jar.get(TIME_ZONE_COOKIE)?.value), messages: await loadMessages(locale) };
});
