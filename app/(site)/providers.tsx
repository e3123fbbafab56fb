'use client';

import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { useState, type ReactNode } from 'react';
import { theme } from '@/components/theme';
import { THEME_KEY } from '@/lib/shared/preferences';

/** A browser that counts as offline may reach the console all the same; a failure is shown, and polls ask again by themselves. */
const ASKED = { networkMode: 'always', retry: false } as const;

const schemes = localStorageColorSchemeManager({ key: THEME_KEY });

/** The context of every screen: theme and the cache of readings. */
export function Providers({ nonce, children }: { nonce: string | undefined; children: ReactNode }) {
  // A page keeps the policy it was loaded with: the nonce of a later render would be refused.
  const [firstNonce] = useState(() => {
    // Dialogs lock scrolling with a style element of their own, which takes its nonce from here.
    if (nonce !== undefined && typeof window !== 'undefined') setNonce(nonce);
    return nonce;
  });
  const [queries] = useState(() => new QueryClient({ defaultOptions: { queries: ASKED, mutations: { networkMode: 'always' } } }));
  return (
    // The theme's variables come with the style sheets (components/theme.css).
    <MantineProvider
      theme={theme}
      colorSchemeManager={schemes}
      defaultColorScheme="auto"
      withCssVariables={false}
      getStyleNonce={() => firstNonce ?? ''}
    >
      <QueryClientProvider client={queries}>{children}</QueryClientProvider>
    </MantineProvider>
  );
}
