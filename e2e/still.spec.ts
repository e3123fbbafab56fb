/** Runs when the other stories have ended: what they add to the lists and take from them moves lines, as it should. */
import { expect, test } from './fixtures';
import { observeLayoutShift } from './support/measure';
import { insertEscrow } from './support/rows';
import { SCREENS } from './support/screens';
import { watchPage } from './support/watch-page';

test('every screen keeps still: layout shift at most 0.02, two readings included', async ({ browser, world, sessions, database }) => {
  const event = (await insertEscrow(database('escrow'))).id;
  const opened = [];
  for (const { name, path, open: isOpen, role, readsOnce } of SCREENS) {
    const context = await browser.newContext();
    if (isOpen !== true) await context.addCookies((await sessions(role ?? 'operator')).cookies);
    const page = await context.newPage();
    const watch = await watchPage(page);
    const shift = await observeLayoutShift(page);
    const readings = new Map<string, number>();
    page.on('response', (response) => {
      const action = response.request().headers()['next-action'];
      if (action !== undefined) readings.set(action, (readings.get(action) ?? 0) + 1);
    });
    await page.goto(new URL(path.replace('{event}', event), world.url).href);
    await page.waitForLoadState('networkidle');
    opened.push({ name, context, watch, shift, readings, wanted: readsOnce === true ? 0 : 3 });
  }
  // They wait for the same intervals. What a reading brings must not move what is there; with the third, two are drawn.
  for (const { name, context, watch, shift, readings, wanted } of opened) {
    await expect.poll(() => Math.max(0, ...readings.values()), name).toBeGreaterThanOrEqual(wanted);
    const { total, sources } = await shift();
    expect(total, `${name}\n${sources.join('\n')}`).toBeLessThanOrEqual(0.02);
    expect(watch.problems(), name).toEqual([]);
    await context.close();
  }
});
