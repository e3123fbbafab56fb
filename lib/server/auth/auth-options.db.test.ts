import { expect, test } from 'vitest';
import { contextOf, useTestConsole } from '@/scripts/testing/console';
import { useTestDatabase } from '@/scripts/testing/database';
import { authOptions } from './auth-options';

const store = useTestDatabase();
useTestConsole(
  () => store.url,
  () => `databases: {a: {url: '${store.url}'}}\noutboxes: [{id: a, name: A, database: a, shape: published-at, table: a}]\n`,
);

test('more sign-ins at once than are checked are told that they are too many, and not that nothing answers', async () => {
  const { console } = await contextOf('viewer');
  const answers = await Promise.allSettled(
    Array.from({ length: 24 }, async (_, n) => {
      // From everywhere, so that no address is held back for itself.
      const browser = {
        address: `192.0.2.${String(n)}`,
        browser: null,
        previousSid: null,
        onSignIn: () => undefined,
        onNotEnded: () => undefined,
      };
      const [provider] = authOptions(console, browser).providers as unknown as { options: { authorize(of: object): Promise<unknown> } }[];
      return provider?.options.authorize({ email: `nobody-${String(n)}@outbox.local`, password: 'a wrong password' });
    }),
  );
  const told = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : (answer.reason as Error).message));
  expect([...new Set(told)].sort()).toEqual([null, 'too_many']);
});

test('a session that the store does not end is told: next-auth takes the sign-out for done', async () => {
  const { console } = await contextOf('viewer');
  const told: unknown[] = [];
  const browser = {
    address: '192.0.2.1',
    browser: null,
    previousSid: null,
    onSignIn: () => undefined,
    onNotEnded: (error: unknown) => told.push(error),
  };
  const { events } = authOptions(console, browser);
  const end = () => events?.signOut?.({ token: { sid: '00000000-0000-4000-8000-000000000001' }, session: { expires: '' } });
  await end();
  expect(told).toEqual([]);
  await console.store.db.destroy();
  await end();
  expect(told).toHaveLength(1);
});
