/** The fleet when some of its databases are away, and when there is little room. */
import { sessionOf } from '@/scripts/testing/session';
import { expect, test } from './fixtures';
import { secondConsole } from './support/second-console';

test('outboxes of databases that are away are counted, and say once why there is nothing of them', async ({ world, playwright, page }) => {
  const console = await secondConsole(world, (config) => {
    const [like] = config.outboxes;
    for (const id of ['gone-0', 'gone-1']) {
      config.databases[id] = { url: 'postgres://nobody:none@127.0.0.1:1/none' };
      config.outboxes.push({ ...like, id, name: id, database: id });
    }
  });
  try {
    await console.start();
    const { cookies } = await sessionOf(playwright.request, console.world, 'viewer');
    await page.context().addCookies(cookies);
    await page.goto(console.world.url);
    const line = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'gone-0', exact: true }) });
    await expect(line).toContainText(/The database has not answered|cannot be reached|does not answer/);
    await expect(line.getByRole('cell')).toHaveCount(2);
    await expect(line).not.toContainText(/cannot be read|as of/);
    await expect(page.getByText('2 are away: gone-0, gone-1')).toBeVisible();
    const healthy = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Orders to Kafka' }) });
    await expect(healthy.getByRole('cell')).toHaveCount(8);
  } finally {
    // A screen that still asks would log that nobody answers.
    await page.goto('about:blank');
    await console.stop();
  }
});

test('on a laptop the sentence of the verdict keeps its room, and nothing hangs over the edge', async ({ signIn }) => {
  const page = await signIn('viewer');
  await page.goto('/');
  const sentence = page.getByRole('row').filter({ hasText: 'Courier orders to Redis' }).locator('[data-column="verdict"]');
  for (const width of [1400, 1280, 1200, 1100, 1000]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth), `at ${String(width)} px`).toBeLessThanOrEqual(width);
    expect((await sentence.boundingBox())?.width ?? 0, `at ${String(width)} px`).toBeGreaterThan(200);
  }
});
