import { expect, test } from './fixtures';
import { axeFindings } from './support/measure';
import { insertEscrow, insertEscrows, shownRow } from './support/rows';

test('offline, no click leaves the page; it says so, and the last one is followed once the line is back', async ({ signIn, watch }) => {
  watch.allow(/ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED/);
  const page = await signIn('operator');
  await page.goto('/');
  await page.getByRole('navigation', { name: 'Parts of the console' }).getByRole('link', { name: 'Dead letters' }).click();
  await page.getByRole('link', { name: 'Escrow', exact: true }).first().click();
  await expect(page).toHaveURL(/\/outboxes\/escrow/);
  await page.getByRole('link', { name: 'Events', exact: true }).click();
  const row = page.locator('[data-event]').first();
  await expect(row).toBeVisible();
  await expect(page).toHaveURL(/\/outboxes\/escrow\/events$/);
  // Its script is loaded with its first opening.
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog').getByRole('textbox')).toBeFocused();
  await page.keyboard.press('Escape');
  const address = page.url();
  const offline = page.getByRole('status').filter({ hasText: 'You are offline' });
  const clicks = [
    () => row.click(),
    () => page.getByRole('link', { name: 'Audit' }).click(),
    () => page.getByLabel('Outbox', { exact: true }).selectOption({ index: 2 }),
    () => page.getByRole('button', { name: 'Next', exact: true }).click(),
    async () => {
      await page.getByRole('button', { name: 'Language' }).click();
      await page.getByRole('menuitemradio', { name: 'English' }).click();
    },
    async () => {
      await page.keyboard.press('ControlOrMeta+k');
      await page.keyboard.type('kafka');
      await page.keyboard.press('Enter');
    },
  ];
  await page.context().setOffline(true);
  for (const click of clicks) {
    await click();
    await expect(offline).toBeVisible();
    expect(page.url()).toBe(address);
    await expect(row).toBeVisible();
    await page.getByRole('button', { name: 'Stay here' }).click();
    await expect(offline).toBeHidden();
  }
  await page.getByRole('link', { name: 'Audit' }).click();
  await expect(offline).toBeVisible();
  await page.context().setOffline(false);
  await expect(page).toHaveURL(/\/audit$/);
  await expect(offline).toBeHidden();
  // Its scripts are there, and it reads by itself.
  await expect(page.getByRole('button', { name: /Live/ })).toBeVisible();

  // The machine has a network, and the console does not answer.
  await page.route('**/*', (route) => route.abort('connectionrefused'));
  await expect(page.getByText('The console does not answer.')).toBeVisible();
  await page.getByRole('link', { name: 'Fleet', exact: true }).click();
  await expect(offline).toBeVisible();
  await expect(page).toHaveURL(/\/audit$/);
  await page.unroute('**/*');
  await expect(page.getByRole('heading', { name: /of 5 need/ })).toBeVisible();
});

test('an event leads to the next one of the list it was opened from, and the list to the row, in its place', async ({
  signIn,
  database,
}) => {
  const error = `story: trail ${String(Date.now())}`;
  await insertEscrows(database('escrow'), 30, { error, ageMinutes: 40 });
  const page = await signIn('operator');
  await page.setViewportSize({ width: 1440, height: 600 });
  await page.goto(`/outboxes/escrow/events?error=${encodeURIComponent(error)}`);
  const rows = page.locator('[data-event]').filter({ visible: true });
  await expect(rows).toHaveCount(30);
  const ids = await rows.evaluateAll((links) => links.map((link) => link.getAttribute('data-event') ?? ''));
  const [, id = '', next = ''] = ids.slice(19);
  const row = shownRow(page, id);
  await row.scrollIntoViewIfNeeded();
  const place = await row.boundingBox();
  expect(await page.evaluate(() => window.scrollY)).toBeGreaterThan(0);

  await row.click();
  const trail = page.getByRole('navigation', { name: 'The list this event was opened from' });
  await expect(trail).toContainText('21 of 30');
  await page.keyboard.press('j');
  await expect(page).toHaveURL(new RegExp(`/events/${next}$`));
  await expect(trail).toContainText('22 of 30');
  await page.keyboard.press('k');
  await expect(page).toHaveURL(new RegExp(`/events/${id}$`));
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keys of this screen' })).toContainText('Next event of the list');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);

  await page.goBack();
  await expect(row).toBeFocused();
  await expect.poll(async () => (await row.boundingBox())?.y).toBe(place?.y);

  await page.keyboard.press('Enter');
  await expect(trail).toContainText('21 of 30');
  // Meanwhile the event leaves the list, and another comes: the row stays.
  await database('escrow').query(`UPDATE p2p.transaction_outbox SET error_message = 'another' WHERE id = $1`, [id]);
  await insertEscrow(database('escrow'), { error, ageMinutes: 30 });
  await page.goBack();
  await expect(row).toBeFocused();
  await expect(page.getByRole('row').filter({ has: row })).toHaveAttribute('data-gone', 'true');
  expect(await axeFindings(page), 'what is gone is still read').toEqual([]);
  await expect(page.getByRole('button', { name: '1 newer event: show it' })).toBeVisible();
  await expect(rows).toHaveCount(30);
  expect(await rows.evaluateAll((links) => links.map((link) => link.getAttribute('data-event')))).toEqual(ids);
});

test('numbers stand in a font of our own, each figure as wide as the next', async ({ signIn }) => {
  const page = await signIn('viewer');
  const fonts: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'font') fonts.push(new URL(request.url()).origin);
  });
  await page.goto('/outboxes/escrow');
  await expect(page.locator('main svg text').first()).toBeVisible();
  const origin = new URL(page.url()).origin;
  expect([...new Set(fonts)]).toEqual([origin]);
  // In text, in a table, on a button and on the axis of a chart.
  for (const place of ['h1', 'table', 'main button', 'main svg text']) {
    const widths = await page
      .locator(place)
      .first()
      .evaluate(async (element) => {
        await document.fonts.ready;
        const { fontFamily, fontVariantNumeric } = getComputedStyle(element);
        const widthOf = (text: string, numeric: string) => {
          const held = document.createElement('span');
          Object.assign(held.style, { position: 'absolute', font: `400 16px ${fontFamily}`, fontVariantNumeric: numeric });
          held.textContent = text;
          document.body.append(held);
          const { width } = held.getBoundingClientRect();
          held.remove();
          return width;
        };
        return {
          ones: widthOf('1111', fontVariantNumeric),
          eights: widthOf('8888', fontVariantNumeric),
          narrowOnes: widthOf('1111', 'proportional-nums'),
        };
      });
    expect(widths.ones, place).toBe(widths.eights);
    // Which shows that it is this font: the system's figures are all as wide, or all as narrow.
    expect(widths.narrowOnes, place).toBeLessThan(widths.ones);
  }
});
