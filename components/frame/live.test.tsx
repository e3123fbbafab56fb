import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderToString } from 'react-dom/server';
import { expect, it } from 'vitest';
import { LiveProvider, usePolledSnapshot } from './live';

const timers = (): number => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

function Screen() {
  const { snapshot } = usePolledSnapshot({
    key: ['tested'],
    action: () => Promise.resolve({ ok: true as const, value: { asOf: '2026-11-22T00:00:00Z' } }),
    initial: { asOf: '2026-11-22T00:00:00Z' },
  });
  return <p>{snapshot.asOf}</p>;
}

it('leaves nothing behind on the server that would keep a page once it is rendered', () => {
  const before = timers();
  const page = renderToString(
    <QueryClientProvider client={new QueryClient()}>
      <LiveProvider>
        <Screen />
      </LiveProvider>
    </QueryClientProvider>,
  );
  expect(page).toContain('2026-11-22');
  expect(timers()).toBe(before);
});
