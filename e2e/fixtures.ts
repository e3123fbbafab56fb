/**
 * What every story gets: a watched page, sign-in by role without the form, the observed tables, the sink, and the HTTP
 * surface with a token. Import `test` and `expect` from here.
 */
import { type APIRequestContext, test as base, expect, type Page } from '@playwright/test';
import { createSinkClient, type SinkControl } from '@/demo/sink/client';
import type { Role } from '@/lib/shared/permissions';
import { type Database, openDatabase } from './support/database';
import { sessionOf, type Session } from '@/scripts/testing/session';
import { type PageWatch, watchPage } from './support/watch-page';
import { readWorld, type World } from '@/scripts/testing/world';

interface TestFixtures {
  /** Signs this test's browser in; the session is made once per role and worker. */
  signIn: (role: Role) => Promise<Page>;
  watch: PageWatch;
  /** Requests with the demo's operator token. */
  api: APIRequestContext;
}

interface WorkerFixtures {
  world: World;
  sessions: (role: Role) => Promise<Session>;
  /** The observed database of an outbox; `store` is the console's own. */
  database: (outbox: string) => Database;
  sink: SinkControl;
}

/** In the page: whether React knows every element that can be used; until then what is pressed is heard by nobody. */
export function isTakenOver(): boolean {
  return [...document.querySelectorAll('button, input, textarea')].every((one) =>
    Object.keys(one).some((key) => key.startsWith('__reactFiber$')),
  );
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  world: [
    async ({}, use) => {
      await use(readWorld());
    },
    { scope: 'worker' },
  ],
  sessions: [
    async ({ world, playwright }, use) => {
      const made = new Map<Role, Promise<Session>>();
      await use((role) => {
        const session = made.get(role) ?? sessionOf(playwright.request, world, role);
        made.set(role, session);
        return session;
      });
    },
    { scope: 'worker' },
  ],
  database: [
    async ({ world }, use) => {
      const open = new Map<string, Database>();
      await use((outbox) => {
        const known = open.get(outbox);
        if (known) return known;
        const url = outbox === 'store' ? world.store : world.databases[outbox];
        if (url === undefined) throw new Error(`The demo has no outbox ${outbox}`);
        const database = openDatabase(url);
        open.set(outbox, database);
        return database;
      });
      await Promise.all([...open.values()].map((database) => database.close()));
    },
    { scope: 'worker' },
  ],
  sink: [
    async ({ world }, use) => {
      const sink = createSinkClient({ url: world.sinkUrl, timeoutMs: 5000 });
      await use(sink);
      sink.close();
    },
    { scope: 'worker' },
  ],

  page: async ({ page }, use) => {
    const goto = page.goto.bind(page);
    // What has streamed in stands hidden beside its place until it is moved there: until then it is on the page twice.
    page.goto = async (...to) => {
      const answer = await goto(...to);
      await expect(page.locator('div[hidden][id^="S:"]')).toHaveCount(0);
      // What is pressed before React has taken the page over is heard by nobody.
      await page.waitForFunction(isTakenOver);
      return answer;
    };
    await use(page);
  },
  baseURL: async ({ world }, use) => {
    await use(world.url);
  },
  watch: [
    async ({ page }, use, testInfo) => {
      const watch = await watchPage(page);
      await use(watch);
      if (testInfo.status === testInfo.expectedStatus) expect(watch.problems(), 'what the page must not do').toEqual([]);
    },
    { auto: true },
  ],
  signIn: async ({ page, sessions }, use) => {
    await use(async (role) => {
      const { cookies } = await sessions(role);
      await page.context().addCookies(cookies);
      return page;
    });
  },
  api: async ({ world, playwright }, use) => {
    const context = await playwright.request.newContext({
      baseURL: world.url,
      extraHTTPHeaders: { authorization: `Bearer ${world.token}` },
    });
    await use(context);
    await context.dispose();
  },
});

export { expect };
