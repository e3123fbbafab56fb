import type { Page } from '@playwright/test';
import { expect, test } from './fixtures';
import { LOCALE_COOKIE } from '@/lib/shared/preferences';
import { axeFindings, scriptBytes, scrollsSideways } from './support/measure';
import { addressOf, SCREENS, type Screen } from './support/screens';

const KB = 1000;

/** The screen as the operator opens it; the event screen gets an event of its own. */
test.describe.configure({ mode: 'parallel' });

for (const screen of SCREENS) {
  test.describe(screen.name, () => {
    let path = screen.path;

    test.beforeAll(async ({ database, playwright, world }) => {
      path = await addressOf(screen, { database, request: playwright.request, world });
    });

    test('has no serious finding of axe, in the light theme and in the dark one', async ({ page, signIn }) => {
      await open(page, screen, path, signIn);
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', theme);
        // Between two themes there are colours of neither.
        await page.evaluate(() =>
          Promise.all(document.getAnimations().flatMap((one) => (one instanceof CSSTransition ? one.finished.catch(() => null) : []))),
        );
        expect(await axeFindings(page), theme).toEqual([]);
      }
    });

    test('loads no more script than its budget', async ({ page, signIn }) => {
      if (!screen.open) await signIn(screen.role ?? 'operator');
      const { total, files, plain } = await scriptBytes(page, path);
      const budget = (screen.charts ? 300 : 220) * KB;
      expect(total, files.map(({ url, bytes }) => `${String(bytes)} ${url}`).join('\n')).toBeLessThanOrEqual(budget);
      expect(total).toBeGreaterThan(0);
      expect(plain).toEqual([]);
    });

    test('fits a phone without scrolling sideways', async ({ page, signIn }) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await open(page, screen, path, signIn);
      expect(await scrollsSideways(page)).toBe(false);
      for (const table of await page.getByRole('region', { name: 'By type' }).all()) {
        expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
        const type = await table.getByRole('rowheader').first().boundingBox();
        expect(type?.width, 'a name that is not broken into letters').toBeGreaterThan(60);
      }
    });

    test('is Korean for who reads Korean', async ({ page, signIn, world }) => {
      await page.context().addCookies([{ name: LOCALE_COOKIE, value: 'ko', url: world.url }]);
      await open(page, screen, path, signIn);
      await expect(page.locator('html')).toHaveAttribute('lang', 'ko');
      // Titles may be the outbox's own name; what stands around it is ours.
      await expect(page.getByRole('main')).toHaveText(/\p{Script=Hangul}/u);
      if (!screen.open) await expect(page.getByRole('navigation').first()).toHaveText(/\p{Script=Hangul}/u);
    });
  });
}

async function open(page: Page, screen: Screen, path: string, signIn: (role: 'operator' | 'admin') => Promise<Page>): Promise<void> {
  if (!screen.open) await signIn(screen.role ?? 'operator');
  const answer = await page.goto(path);
  expect(answer?.status()).toBe(200);
  await expect(page.getByRole('heading').first()).toBeVisible();
  await page.waitForLoadState('networkidle');
}
