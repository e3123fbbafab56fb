/** Two hundred outboxes over twenty databases, three of them away: what the fleet screen costs a browser, and what stands first. */
import { sessionOf } from '@/scripts/testing/session';
import { expect, test } from './fixtures';
import { secondConsole } from './support/second-console';

// A recording of every step would be most of the work.
test.use({ trace: 'off' });

const DATABASES = 20;
const UNREACHABLE = 3;
const OUTBOXES = 10;

/**
 * Of the document, before it is compressed: names, figures and half an hour of depth for each outbox as data, a screenful of
 * them drawn, and the words of the screens (95 kB).
 */
const DOCUMENT_BYTES = 420_000;
/** Of the whole page once every line is drawn. */
const ELEMENTS = 5_500;
/** On a phone, where a line is a name and a sentence. */
const PHONE_PX = 16_000;

test('two hundred outboxes are a light page, and those of databases that are away bury nothing', async ({ world, playwright, page }) => {
  const console = await secondConsole(world, (config) => {
    const like = config.outboxes;
    config.outboxes = [];
    for (let at = 0; at < DATABASES; at += 1) {
      for (let n = 0; n < OUTBOXES; n += 1) {
        // One of the demo's tables stands for all of a database.
        const one = like[at % like.length];
        const source = config.databases[String(one?.database)];
        const database = `${at < UNREACHABLE ? 'away' : 'up'}-${String(at)}`;
        config.databases[database] = { url: at < UNREACHABLE ? 'postgres://nobody:none@127.0.0.1:1/none' : (source?.url ?? '') };
        config.outboxes.push({ ...one, id: `o-${String(at)}-${String(n)}`, name: `Service ${String(at)} outbox ${String(n)}`, database });
      }
    }
  });
  try {
    await console.start();
    const { cookies } = await sessionOf(playwright.request, console.world, 'viewer');
    await page.context().addCookies(cookies);
    await page.goto(console.world.url);
    // Until the outboxes were read once: the lines with figures are what weighs.
    const figures = page.locator('td[data-column="waiting"]');
    await expect.poll(() => figures.count()).toBeGreaterThan(140);

    const began = Date.now();
    const answer = await page.goto(console.world.url);
    const links = page.getByRole('link', { name: /^Service \d+ outbox \d$/ }).and(page.locator('[data-row]'));
    await expect(links.first()).toBeVisible();
    const firstLinesMs = Date.now() - began;
    // All lines are drawn when no room is kept for more.
    await expect(page.locator('tbody tr[aria-hidden]')).toHaveCount(0);
    expect(await links.count()).toBeGreaterThan(100);
    const bytes = (await answer?.body())?.length ?? Infinity;
    const elements = await page.evaluate(() => document.querySelectorAll('*').length);
    test
      .info()
      .annotations.push({ type: 'cost', description: JSON.stringify({ bytes, elements, firstLinesMs, allMs: Date.now() - began }) });
    expect(bytes, 'bytes of the document').toBeLessThan(DOCUMENT_BYTES);
    expect(elements, 'elements of the page').toBeLessThan(ELEMENTS);

    // One line per database that is away, naming its outboxes; what somebody can do something about comes right after.
    const told = await page.locator('tbody [data-row]').allTextContents();
    expect(told.filter((text) => text.startsWith('away-')).sort()).toEqual(['away-0', 'away-1', 'away-2']);
    const first = told.findIndex((text) => text.startsWith('Service'));
    expect(told.slice(first).filter((text) => !text.startsWith('Service'))).toEqual([]);
    const away = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'away-1' }) });
    await expect(away).toContainText(/The database has not answered for .*10 outboxes: .*Service 1 outbox 3/);
    const one = page.getByRole('link', { name: 'Service 1 outbox 3', exact: true });
    await page.getByRole('button', { name: 'away-1' }).click();
    await expect(one).toBeVisible();
    await page.getByRole('button', { name: 'away-1' }).click();
    await expect(one).toBeHidden();

    // The keys go over every line, and what is far down can be found by its words.
    await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
    await page.keyboard.press('k');
    await expect(links.last()).toBeFocused();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(PHONE_PX);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  } finally {
    // A screen that still asks would log that nobody answers.
    await page.goto('about:blank');
    await console.stop();
  }
});
