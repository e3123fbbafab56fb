'use client';

import { NextIntlClientProvider } from 'next-intl';
import { use, type ReactNode } from 'react';
import { loadMessages, type Language, type Messages } from '@/lib/messages/languages.gen';

const loading = new Map<Language, Promise<Messages>>();

/** One promise per language: what is rendered again must not wait again. */
function load(language: Language): Promise<Messages> {
  const known = loading.get(language) ?? loadMessages(language);
  loading.set(language, known);
  return known;
}

interface MessagesProps {
  language: Language;
  timeZone: string;
  children: ReactNode;
}

/** The words of the screens, from a file that browsers keep: a hundred kilobytes that do not travel with every page. */
export function MessagesProvider({ language, timeZone, children }: MessagesProps) {
  return (
    <NextIntlClientProvider locale={language} timeZone={timeZone} messages={use(load(language))}>
      {children}
    </NextIntlClientProvider>
  );
}
