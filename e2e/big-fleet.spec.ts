/** Two hundred outboxes over twenty databases, three of them away: what the fleet screen costs a browser, and what stands first. */
import type { Page } from '@playwright/test';
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
/**
 * Milliseconds that the page's main thread computes, until every line is drawn, and for a frame while scrolling.
 * Not of the clock: two hundred outboxes are read meanwhile, on the same two cores.
 */
const ALL_LINES_MS = 1_500;
const FRAME_MS = 80;
const VISITS = 3;

interface Visit {
  allLinesMs: number;
  frameMs: number;
}

/** Every line is drawn when no room is kept for more. */
const isDrawn = () => document.querySelector('tbody [data-row]') !== null && document.querySelector('tbody tr[aria-hidden]') === null;

async function visit(page: Page, url: string): Promise<Visit> {
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Performance.enable', { timeDomain: 'threadTicks' });
  const computedMs = async (): Promise<number> => {
    const { metrics } = await protocol.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN);
  };
  await page.goto(url, { waitUntil: 'commit' });
  const began = await computedMs();
  await page.waitForFunction(isDrawn);
  const drawn = await computedMs();
  const frames = await page.evaluate(async () => {
    let frames = 0;
    for (let y = 0; y < document.documentElement.scrollHeight; y += 100, frames += 1) {
      window.scrollTo(0, y);
      await new Promise(requestAnimationFrame);
    }
    return frames;
  });
  const scrolled = await computedMs();
  await protocol.detach();
  return { allLinesMs: drawn - began, frameMs: (scrolled - drawn) / frames };
}

test('two hundred outboxes are a light page, and those of databases that are away bury nothing', async ({ world, playwright, page }) => {
  const console = await secondConsole(world, (config) => {
    const like = config.outboxes;
    // Most are read at little cost: what is asked here is of the screen, and a server would be busy with two hundred scans.
    const light = like.filter(({ id }) => id === 'orders-kafka' || id === 'notifications');
    config.outboxes = [];
    // One for each database that answers: how they share fewer is asked of the share, in its own test.
    config.connections = { perServer: 36 };
    for (let at = 0; at < DATABASES; at += 1) {
      for (let n = 0; n < OUTBOXES; n += 1) {
        // One of the demo's tables stands for all of a database.
        const one = at < UNREACHABLE + like.length ? like[at % like.length] : light[at % light.length];
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

    const visits: Visit[] = [];
    for (let at = 0; at < VISITS; at += 1) visits.push(await visit(page, console.world.url));

    const answer = await page.goto(console.world.url);
    const links = page.getByRole('link', { name: /^Service \d+ outbox \d$/ }).and(page.locator('[data-row]'));
    // What is older than a few seconds comes with the next answer, not with the page.
    await expect.poll(() => links.count()).toBeGreaterThan(100);
    await page.waitForFunction(isDrawn);
    const bytes = (await answer?.body())?.length ?? Infinity;
    const elements = await page.evaluate(() => document.querySelectorAll('*').length);
    test.info().annotations.push({ type: 'cost', description: JSON.stringify({ bytes, elements, visits }) });
    expect(Math.max(...visits.map(({ allLinesMs }) => allLinesMs)), 'until every line is drawn').toBeLessThan(ALL_LINES_MS);
    expect(Math.max(...visits.map(({ frameMs }) => frameMs)), 'a frame while scrolling').toBeLessThan(FRAME_MS);
    expect(bytes, 'bytes of the document').toBeLessThan(DOCUMENT_BYTES);
    expect(elements, 'elements of the page').toBeLessThan(ELEMENTS);

    // One line per database that is away, naming its outboxes; what somebody can do something about comes right after.
    // A server as busy as this one may let a connection wait too long, and another database counts as away until the next.
    await expect(async () => {
      const told = await page.locator('tbody [data-row]').allTextContents();
      const first = told.findIndex((text) => text.startsWith('Service'));
      expect(told.slice(0, first).sort()).toEqual(['away-0', 'away-1', 'away-2']);
      expect(told.slice(first).filter((text) => !text.startsWith('Service'))).toEqual([]);
    }).toPass({ timeout: 120_000 });
    const away = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'away-1' }) });
    await expect(away).toContainText(/The database has not answered for .*10 outboxes: .*Service 1 outbox 3/);
    const one = links.filter({ hasText: /^Service 1 outbox 3$/ });
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
