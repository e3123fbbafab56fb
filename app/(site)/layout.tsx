import '@/components/styles';
import { ColorSchemeScript, mantineHtmlProps } from '@mantine/core';
import type { Metadata, Viewport } from 'next';
import { headers } from 'next/headers';
import { NextIntlClientProvider } from 'next-intl';
import { getLocale, getMessages } from 'next-intl/server';
import type { ReactNode } from 'react';
import { NONCE_HEADER } from '@/lib/server/auth/cookies';
import { THEME_KEY } from '@/lib/shared/preferences';
import font from '../font';
import { Providers } from './providers';

export const metadata: Metadata = {
  title: { template: '%s · Outbox Console', default: 'Outbox Console' },
  robots: { index: false, follow: false },
};

export const viewport: Viewport = { width: 'device-width', initialScale: 1, colorScheme: 'light dark' };

export default async function RootLayout({ children }: { children: ReactNode }) {
  const nonce = (await headers()).get(NONCE_HEADER) ?? undefined;
  // Texts of the sign-in and error pages. The screens load the whole catalogue; visitors who have not signed in get none of it.
  const { errors, login, problems } = await getMessages();
  return (
    <html lang={await getLocale()} className={font.variable} {...mantineHtmlProps}>
      <head>
        <ColorSchemeScript nonce={nonce} defaultColorScheme="auto" localStorageKey={THEME_KEY} />
      </head>
      <body>
        <NextIntlClientProvider messages={{ errors, login, problems }}>
          <Providers nonce={nonce}>{children}</Providers>
        </NextIntlClientProvider>
      </body>
    </html>
  );
}
