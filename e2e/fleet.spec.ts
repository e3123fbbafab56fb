/** The fleet when some of its databases are away. */
import { sessionOf } from '@/scripts/testing/session';
import { expect, test } from './fixtures';
import { secondConsole } from './support/second-console';

test('outboxes of databases that are away are counted, and say once why there is nothing of them', async ({ world, playwright, page }) => {
  test.setTimeout(120_000);
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
    await expect(line).not.toContainText(/cannot be read|figures as of/);
    await expect(page.getByText('2 are away: gone-0, gone-1')).toBeVisible();
    const healthy = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Orders to Kafka' }) });
    await expect(healthy.getByRole('cell')).toHaveCount(8);
  } finally {
    await console.stop();
  }
});
