import { LANGUAGES, type Language } from '@/lib/messages/languages.gen';
import { DEFAULT_TIME_ZONE, isTimeZone } from '@/lib/shared/preferences';

const isLanguage = (code: string): code is Language => LANGUAGES.some((language) => language.code === code);

/** The language to answer in: the reader's choice, else the best of `Accept-Language` that exists here, else English. */
export function chooseLanguage(cookie: string | undefined, acceptLanguage: string | null): Language {
  if (cookie !== undefined && isLanguage(cookie)) return cookie;
  const wanted = (acceptLanguage ?? '')
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
      const [, quality = '1'] = /^\s*q=(.*)$/.exec(parameters.find((parameter) => parameter.trim().startsWith('q=')) ?? '') ?? [];
      return { code: tag.split('-')[0] ?? '', quality: Number(quality) };
    })
    .filter(({ quality }) => Number.isFinite(quality) && quality > 0)
    .sort((a, b) => b.quality - a.quality);
  return wanted.map(({ code }) => code).find(isLanguage) ?? 'en';
}

export const chooseTimeZone = (cookie: string | undefined): string => (isTimeZone(cookie) ? cookie : DEFAULT_TIME_ZONE);

/** Every language with a catalogue, named in that language. */
export const OFFERED_LANGUAGES: { code: string; name: string }[] = [...LANGUAGES];
