'use client';

import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { useState, type ReactNode } from 'react';
import { theme } from '@/components/theme';

/** What every screen stands in: theme and the cache of readings. */
export function Providers({ nonce, children }: { nonce: string | undefined; children: ReactNode }) {
  // The page keeps the policy it was loaded with: a nonce of a later rendering would be refused.
  const [firstNonce] = useState(() => {
    // Dialogs lock the scrolling behind them with a style element of their own, which asks here for its nonce.
    if (nonce !== undefined && typeof window !== 'undefined') setNonce(nonce);
    return nonce;
  });
  const [queries] = useState(() => new QueryClient());
  return (
    // The variables of the theme come with the style sheets (components/theme.css).
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} getStyleNonce={() => firstNonce ?? ''}>
      <QueryClientProvider client={queries}>{children}</QueryClientProvider>
    </MantineProvider>
  );
}
