import { expect, test } from './fixtures';
import { insertEscrow, shownRow } from './support/rows';

test('events are walked, selected, opened and operated on by keys alone', async ({ signIn, database }) => {
  const error = `story: keys ${String(Date.now())}`;
  await insertEscrow(database('escrow'), { error, ageMinutes: 30 });
  const { id, order } = await insertEscrow(database('escrow'), { error, ageMinutes: 40 });
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events?error=${encodeURIComponent(error)}`);
  await expect(page.getByRole('checkbox', { name: /^Select order_complete/ })).toHaveCount(2);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await expect(page.getByRole('region', { name: 'Selected events' })).toContainText('1 selected');
  await page.keyboard.press('a');
  await expect(page.getByRole('dialog')).toContainText(order);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  // Closing gives the focus back to the row one was on.
  await expect(shownRow(page, id)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText(order);
});

test('a menu is walked by keys, and Escape or a press elsewhere gives its button the focus back', async ({ signIn }) => {
  const page = await signIn('viewer');
  await page.goto('/outboxes/escrow');
  const theme = page.getByRole('button', { name: 'Theme' });
  await theme.focus();
  await page.keyboard.press('Enter');
  const choices = page.getByRole('menu', { name: 'Theme' }).getByRole('menuitemradio');
  await expect(page.getByRole('menuitemradio', { checked: true })).toBeFocused();
  await page.keyboard.press('End');
  await expect(choices.last()).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(choices.first()).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(choices).toHaveCount(0);
  await expect(theme).toBeFocused();
  await page.getByRole('button', { name: 'Choose a time' }).click();
  const form = page.getByRole('dialog', { name: 'Choose a time' });
  await expect(form.getByLabel('From')).toBeFocused();
  // Tab stays within it.
  for (let press = 0; press < 12; press++) await page.keyboard.press('Tab');
  await expect(form.locator(':focus')).toHaveCount(1);
  await page.getByRole('heading', { level: 1 }).click();
  await expect(form).toHaveCount(0);
});

test('? lists the keys of the screen one is on', async ({ signIn }) => {
  const page = await signIn('viewer');
  await page.goto('/outboxes/escrow/events');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keys of this screen' })).toContainText('Next row');
});

test('⌘K finds an outbox by name and an event by id', async ({ signIn, database }) => {
  const { id } = await insertEscrow(database('escrow'));
  const page = await signIn('viewer');
  await page.goto('/');
  await expect(page.getByRole('heading', { name: /of 5 need/ })).toBeVisible();
  await page.keyboard.press('ControlOrMeta+k');
  const search = page.getByRole('dialog').getByRole('textbox');
  await expect(search).toBeFocused();
  await page.keyboard.type('kafka');
  await expect(page.getByRole('dialog')).not.toContainText(/SQS/);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/outboxes\/orders-kafka/);
  // Back in the box before it has wholly gone: what was typed there is not in front of what is typed now.
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('kafka');
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(search).toBeFocused();
  await page.keyboard.type(id);
  await expect(search).toHaveValue(id);
  await expect(page.getByRole('dialog').getByRole('button').filter({ hasText: id }).first()).toContainText('in Escrow');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/events/${id}`));
  // Nothing found: what became of the key is the first line, which Enter opens.
  await page.keyboard.press('ControlOrMeta+k');
  await expect(search).toBeFocused();
  await page.keyboard.type('order-of-nobody');
  await expect(page.getByRole('dialog').getByRole('button')).toHaveText(/order-of-nobody/);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/find\?key=order-of-nobody/);
});

test('the first Tab leads to the content', async ({ signIn }) => {
  const page = await signIn('viewer');
  await page.goto('/');
  await expect(page.getByRole('heading', { name: /of 5 need/ })).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to the content' })).toBeFocused();
});

test('⌘K and the rail lead to the doctor and, for who may look into databases, to detection', async ({ signIn }) => {
  const page = await signIn('viewer');
  await page.goto('/audit');
  await page.getByRole('navigation', { name: 'Parts of the console' }).getByRole('link', { name: 'Doctor' }).click();
  await expect(page).toHaveURL(/\/doctor$/);
  const found = page.getByRole('dialog').getByRole('button');
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('doctor escrow');
  await expect(found.filter({ hasText: /^Doctor of / })).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/doctor\?outbox=escrow$/);
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('find outboxes');
  await expect(page.getByText('Nothing has this name or key')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('navigation', { name: 'Parts of the console' }).getByRole('link', { name: 'Find outboxes' })).toHaveCount(0);

  await signIn('admin');
  await page.goto('/audit');
  await expect(page.getByRole('navigation', { name: 'Parts of the console' }).getByRole('link', { name: 'Find outboxes' })).toBeVisible();
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('find outboxes');
  await expect(found.filter({ hasText: 'Find outboxes' })).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/detect$/);
});
