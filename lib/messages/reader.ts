import { createTranslator } from 'use-intl/core';
import type { Reader } from '@/lib/shared/doctor-text';
import { loadMessages, type Language } from './languages.gen';

/** Texts and formats of a language outside a page: for exports and the command line. */
export async function readerOf(locale: Language, timeZone: string): Promise<Reader> {
  const translate = createTranslator({ locale, timeZone, messages: await loadMessages(locale) });
  return {
    locale,
    timeZone,
    // Keys come from registries and are not typed; lib/messages/messages.test.ts checks that they exist.
    say: (key, values) => translate(key as never, values as never),
    has: (key) => translate.has(key as never),
  };
}
