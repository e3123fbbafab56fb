/** Two hundred outboxes over twenty databases, three of them away: what the fleet screen costs a browser, and what stands first. */
import type { Browser, Page } from '@playwright/test';
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
 * them drawn, and the words of the screens (90 kB).
 */
const DOCUMENT_BYTES = 420_000;
/** Of the whole page once every line is drawn. */
const ELEMENTS = 5_500;
/** On a phone, where a line is a name and a sentence. */
const PHONE_PX = 16_000;
/**
 * Milliseconds that the page's main thread computes until every line is drawn, and in the longest of its tasks while scrolling, of the best of
 * some visits. Not of the clock: two hundred outboxes are read meanwhile, on the same two cores.
 */
const ALL_LINES_MS = 2_000;
const LONGEST_TASK_MS = 100;
const VISITS = 3;

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Microseconds: `tdur` that the thread computed, not told of every task, `dur` by the clock; neither of one that has not ended. */
  tdur?: number;
  dur?: number;
  args?: { name?: string };
}

/** In milliseconds; one line per visit goes to the report. */
interface Visit {
  allLinesMs: number;
  longestTaskMs: number;
}

/** Every line is drawn when no room is kept for more. */
const isDrawn = () => document.querySelector('tbody [data-row]') !== null && document.querySelector('tbody tr[aria-hidden]') === null;

/** The tasks of the page's main thread while `work` is done, in milliseconds of computing. */
async function tasksOf(page: Page, browser: Browser, work: () => Promise<unknown>): Promise<number[]> {
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const threads = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const tasks = traceEvents.filter(({ name, pid, tid }) => name === 'RunTask' && threads.some((one) => one.pid === pid && one.tid === tid));
  expect(tasks.length).toBeGreaterThan(0);
  return tasks.map(({ tdur, dur = 0 }) => (tdur ?? dur) / 1_000);
}

async function visit(page: Page, browser: Browser, url: string): Promise<Visit> {
  const drawing = await tasksOf(page, browser, async () => {
    await page.goto(url);
    await page.waitForFunction(isDrawn);
  });
  // Whoever scrolls has seen the page first.
  await page.waitForTimeout(500);
  const scrolling = await tasksOf(page, browser, () =>
    page.evaluate(async () => {
      for (let y = 0; y < document.documentElement.scrollHeight; y += 100) {
        window.scrollTo(0, y);
        await new Promise(requestAnimationFrame);
      }
    }),
  );
  return { allLinesMs: drawing.reduce((sum, ms) => sum + ms, 0), longestTaskMs: Math.max(...scrolling) };
}

test('two hundred outboxes are a light page, and those of databases that are away bury nothing', async ({
  world,
  playwright,
  browser,
  page,
}) => {
  const console = await secondConsole(world, (config) => {
    const like = config.outboxes;
    // Most are read at little cost: what is asked here is of the screen, and a server would be busy with two hundred scans.
    const light = like.filter(({ id }) => id === 'orders-kafka' || id === 'notifications');
    config.outboxes = [];
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
    for (let at = 0; at < VISITS; at += 1) visits.push(await visit(page, browser, console.world.url));

    const answer = await page.goto(console.world.url);
    const links = page.getByRole('link', { name: /^Service \d+ outbox \d$/ }).and(page.locator('[data-row]'));
    // What is older than a few seconds comes with the next answer, not with the page.
    await expect.poll(() => links.count()).toBeGreaterThan(100);
    await page.waitForFunction(isDrawn);
    const bytes = (await answer?.body())?.length ?? Infinity;
    const elements = await page.evaluate(() => document.querySelectorAll('*').length);
    test.info().annotations.push({ type: 'cost', description: JSON.stringify({ bytes, elements, visits }) });
    expect(Math.min(...visits.map(({ allLinesMs }) => allLinesMs)), 'until every line is drawn').toBeLessThan(ALL_LINES_MS);
    expect(Math.min(...visits.map(({ longestTaskMs }) => longestTaskMs)), 'the longest task while scrolling').toBeLessThan(LONGEST_TASK_MS);
    expect(bytes, 'bytes of the document').toBeLessThan(DOCUMENT_BYTES);
    expect(elements, 'elements of the page').toBeLessThan(ELEMENTS);

    // One line per database that is away, naming its outboxes; what somebody can do something about comes right after.
    // Lines take their places as their figures come.
    const told = async () => {
      const lines = await page.locator('tbody [data-row]').allTextContents();
      return lines
        .slice(0, 1 + lines.findIndex((text) => text.startsWith('Service')))
        .map((text) => text.replace(/^Service.*/s, 'Service'));
    };
    await expect.poll(async () => (await told()).sort(), { timeout: 20_000 }).toEqual(['Service', 'away-0', 'away-1', 'away-2']);
    const names = await page.locator('tbody [data-row]').allTextContents();
    expect(names.filter((text) => text.startsWith('away-'))).toHaveLength(UNREACHABLE);
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
