import '@/components/theme.css';
import '@/components/tokens.css';
import '@/components/cards/ground.css';
import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { getLocale } from 'next-intl/server';
import type { ReactNode } from 'react';
import { NONCE_HEADER } from '@/lib/server/auth/cookies';
import font from '../font';

export const metadata: Metadata = { robots: { index: false, follow: false } };

/** Before the first paint: the wanted theme and ground; then `data-theme`, which a message of the host sets, and the reader's own wish. */
const THEME_SCRIPT = `{
const root = document.documentElement.dataset, query = new URLSearchParams(location.search), dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => root.mantineColorScheme = root.theme === 'light' || root.theme === 'dark' ? root.theme : dark.matches ? 'dark' : 'light';
if (query.get('background') === 'transparent') root.background = 'transparent';
root.theme = query.get('theme') ?? 'auto';
follow();
dark.addEventListener('change', follow);
new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ['data-theme'] });
}`;

/** Around every card: nothing of the screens' own, so that a card loads little. */
export default async function CardsLayout({ children }: { children: ReactNode }) {
  const nonce = (await headers()).get(NONCE_HEADER) ?? undefined;
  return (
    <html lang={await getLocale()} className={font.variable} data-mantine-color-scheme="light" suppressHydrationWarning>
      <head>
        <script nonce={nonce} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: THEME_SCRIPT }} />
      </head>
      <body>{children}</body>
    </html>
  );
}
