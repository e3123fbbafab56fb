import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderToString } from 'react-dom/server';
import { expect, it } from 'vitest';
import { LiveProvider, usePolledSnapshot } from './live';

const timers = (): number => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

function Screen() {
  const { snapshot, failing } = usePolledSnapshot({
    key: ['tested'],
    action: () => Promise.resolve({ ok: true as const, value: { asOf: '2026-11-22T00:00:00Z' } }),
    initial: { asOf: '2026-11-22T00:00:00Z' },
  });
  return <p>{failing?.code ?? snapshot.asOf}</p>;
}

const rendered = (client: QueryClient): string =>
  renderToString(
    <QueryClientProvider client={client}>
      <LiveProvider>
        <Screen />
      </LiveProvider>
    </QueryClientProvider>,
  );

it('leaves nothing behind on the server that would keep a page once it is rendered', () => {
  const before = timers();
  expect(rendered(new QueryClient())).toContain('2026-11-22');
  expect(timers()).toBe(before);
});

it('says that a reading failed whatever it failed with', async () => {
  const client = new QueryClient();
  client.setQueryData(['tested'], { asOf: '2026-11-22T00:00:00Z' });
  const queryFn = () => Promise.reject(new TypeError('the answer was none'));
  await client.prefetchQuery({ queryKey: ['tested'], queryFn, retry: false });
  expect(rendered(client)).toContain('unreachable');
  client.clear();
});
