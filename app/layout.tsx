import '@/components/styles';
import { ColorSchemeScript, mantineHtmlProps } from '@mantine/core';
import type { Metadata, Viewport } from 'next';
import { headers } from 'next/headers';
import { getLocale, getTimeZone } from 'next-intl/server';
import type { ReactNode } from 'react';
import { chooseLanguage } from '@/lib/server/language';
import { NONCE_HEADER } from '@/lib/server/session-cookie';
import { MessagesProvider } from './messages';
import { Providers } from './providers';

export const metadata: Metadata = {
  title: { template: '%s · Outbox Console', default: 'Outbox Console' },
  robots: { index: false, follow: false },
};

export const viewport: Viewport = { width: 'device-width', initialScale: 1, colorScheme: 'light dark' };

export default async function RootLayout({ children }: { children: ReactNode }) {
  const language = chooseLanguage(await getLocale(), null);
  const nonce = (await headers()).get(NONCE_HEADER) ?? undefined;
  return (
    <html lang={language} {...mantineHtmlProps}>
      <head>
        <ColorSchemeScript nonce={nonce} defaultColorScheme="auto" />
      </head>
      <body>
        <MessagesProvider language={language} timeZone={await getTimeZone()}>
          <Providers nonce={nonce}>{children}</Providers>
        </MessagesProvider>
      </body>
    </html>
  );
}
