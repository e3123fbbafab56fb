/** Runs when the other stories have ended: what they add to the lists and take from them moves lines, as it should. */
import { expect, test } from './fixtures';
import { observeLayoutShift } from './support/measure';
import { addressOf, SCREENS } from './support/screens';
import { watchPage } from './support/watch-page';

test('every screen keeps still: layout shift at most 0.02, two readings included', async ({
  browser,
  playwright,
  world,
  sessions,
  database,
}) => {
  // Before any is open: some are of plans that are made for them, and each of these is a new line elsewhere.
  const addresses = [];
  for (const { path } of SCREENS) addresses.push(await addressOf({ path }, { database, request: playwright.request, world }));
  const opened = [];
  for (const [index, { name, open: isOpen, role, readsOnce }] of SCREENS.entries()) {
    const address = addresses[index] ?? '/';
    const context = await browser.newContext();
    if (isOpen !== true) await context.addCookies((await sessions(role ?? 'operator')).cookies);
    const page = await context.newPage();
    const watch = await watchPage(page);
    const shift = await observeLayoutShift(page);
    const readings = new Map<string, number>();
    const measured: ReturnType<typeof shift>[] = [];
    page.on('response', (response) => {
      const action = response.request().headers()['next-action'];
      if (action === undefined) return;
      readings.set(action, (readings.get(action) ?? 0) + 1);
      // With the third, two are drawn. Not later: on a slow machine the pages are open for minutes, in which incidents begin and end.
      if (readings.get(action) === 3) measured.push(shift());
    });
    await page.goto(new URL(address, world.url).href);
    await page.waitForLoadState('networkidle');
    opened.push({ name, context, watch, measure: async () => (readsOnce === true ? shift() : measured[0]) });
  }
  // They wait for the same intervals. What a reading brings must not move what is there.
  for (const { name, context, watch, measure } of opened) {
    await expect.poll(measure, name).toBeDefined();
    const { total, sources } = (await measure()) ?? { total: Infinity, sources: [] };
    expect(total, `${name}\n${sources.join('\n')}`).toBeLessThanOrEqual(0.02);
    expect(watch.problems(), name).toEqual([]);
    await context.close();
  }
});
