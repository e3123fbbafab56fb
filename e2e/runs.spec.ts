/** From a fleet with dead letters to a backlog that drains: one goes first, and what returns stops it. */
import { randomUUID } from 'node:crypto';
import type { Locator, Page, TestInfo } from '@playwright/test';
import { expect, test } from './fixtures';
import type { Database } from './support/database';
import { axeFindings, scrollsSideways } from './support/measure';
import { insertEscrows } from './support/rows';

/** A text whose digits are letters: the demo's own errors never share its cause. */
const ownError = (): string => `story: ${randomUUID().replaceAll(/[0-9]/g, 'x')}`;

/** A person's hand: every click and key is counted. */
function handOf(page: Page) {
  let used = 0;
  return {
    click: async (target: Locator) => {
      used += 1;
      await target.click();
    },
    type: async (text: string) => {
      used += text.length;
      await page.keyboard.type(text);
    },
    press: async (key: string) => {
      used += 1;
      await page.keyboard.press(key);
    },
    used: () => used,
  };
}

const causeOf = (page: Page, error: string): Locator =>
  page.getByRole('table', { name: 'Dead events by error and type' }).getByRole('row').filter({ hasText: error });

const states = async (database: Database, ids: string[]): Promise<Record<string, number>> => {
  const rows = await database.query<{ status: string; count: number }>(
    'SELECT status, count(*)::int AS count FROM p2p.transaction_outbox WHERE id = ANY($1::uuid[]) GROUP BY status',
    [ids],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
};

async function picture(page: Page, info: TestInfo, name: string): Promise<void> {
  await info.attach(name, { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
}

/** Plans one more try of all events of a cause from its line. */
async function planCause(page: Page, error: string): Promise<void> {
  await page.goto('/outboxes/escrow/dead-letters');
  await causeOf(page, error)
    .getByRole('button', { name: /^Plan requeue/ })
    .click();
  await page.getByLabel('Operation').selectOption({ label: 'Plan one more try' });
  await page.getByLabel('Reason').fill('fix');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/plans\//);
}

test('from the fleet to a backlog that drains are at most twelve clicks and keys, and two minutes', async ({ signIn, database }, info) => {
  const escrow = database('escrow');
  const error = ownError();
  const ids = (await insertEscrows(escrow, 40, { error, ageMinutes: 3 })).map(({ id }) => id);
  const page = await signIn('operator');
  const hand = handOf(page);
  await page.goto('/');
  await expect(page.getByRole('table').first()).toBeVisible();
  const began = Date.now();
  await picture(page, info, '1 fleet');
  await hand.click(
    page
      .getByRole('row')
      .filter({ hasText: 'Escrow' })
      .first()
      .getByRole('link', { name: /^[\d,]+\+?$/ }),
  );
  await expect(causeOf(page, error)).toContainText('40');
  await picture(page, info, '2 causes');
  await hand.click(causeOf(page, error).getByRole('button', { name: /^Plan requeue/ }));
  await expect(page.getByLabel('Reason')).toBeFocused();
  await hand.type('fix');
  await hand.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Requeue 40 events of Escrow, 5,020.00 USDT');
  await expect(page.getByText('One goes first.', { exact: false })).toBeVisible();
  await picture(page, info, '3 plan');
  expect(await states(escrow, ids)).toEqual({ failed: 40 });
  await hand.click(page.getByRole('button', { name: 'Start with 1' }));
  await expect(page).toHaveURL(/\/runs\//);
  await expect(page.getByRole('status').filter({ hasText: /of 40( is)? sent|of 40: published/ })).toBeVisible();
  await picture(page, info, '4 run');
  // A plan that warns waits for a word after the first.
  const resume = page.getByRole('button', { name: 'Resume' });
  const drained = page.getByRole('status').filter({ hasText: 'All 40 are out.' });
  await expect(resume.or(drained)).toBeVisible();
  if (await resume.isVisible()) await hand.click(resume);
  await expect.poll(async () => (await states(escrow, ids)).processed ?? 0).toBeGreaterThan(1);
  expect(Date.now() - began).toBeLessThan(120_000);
  expect(hand.used()).toBeLessThanOrEqual(12);
  await expect(drained).toBeVisible();
  await picture(page, info, '5 done');
  expect(await states(escrow, ids)).toEqual({ processed: 40 });
  await page.getByRole('link', { name: 'of this run' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'fix' }).first()).toBeVisible();
});

test('what is still refused stops it after one, and the others are as they were', async ({ signIn, database, sink }, info) => {
  const escrow = database('escrow');
  const error = ownError();
  const ids = (await insertEscrows(escrow, 40, { error, ageMinutes: 3 })).map(({ id }) => id);
  for (const id of ids) await sink.setFault({ outbox: 'escrow', eventId: id, mode: 'refuse', message: error });
  const page = await signIn('operator');
  await planCause(page, error);
  await page.getByRole('button', { name: 'Start with 1' }).click();
  const says = page.getByRole('status').filter({ hasText: 'Stopped: 1 of 1 failed again for the same cause. 39 untouched.' });
  await expect(says).toBeVisible();
  await picture(page, info, 'stopped');
  const touched = 'SELECT 1 FROM outbox_console.intervention_event WHERE event_id = ANY($1)';
  expect(await escrow.query(touched, [ids])).toHaveLength(1);

  // Once it is put right it begins with one again.
  for (const id of ids) await sink.setFault({ outbox: 'escrow', eventId: id, mode: 'none' });
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(page.getByRole('status').filter({ hasText: '40: 39 out, 1 failed again' })).toBeVisible();
  await page.getByRole('button', { name: /^Plan the 1/ }).click();
  await page.getByLabel('Reason').fill('the last one');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Try 1 event of Escrow once more');
  await page.getByRole('button', { name: 'Start with 1' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'The event is out.' })).toBeVisible();
  expect(await states(escrow, ids)).toEqual({ processed: 40 });
});

test('an opened cause says why its events are together, what runs tried and what operators noted', async ({ signIn, database, sink }) => {
  const error = ownError();
  const ids = (await insertEscrows(database('escrow'), 5, { error, ageMinutes: 3 })).map(({ id }) => id);
  for (const id of ids) await sink.setFault({ outbox: 'escrow', eventId: id, mode: 'refuse', message: error });
  const page = await signIn('operator');
  await planCause(page, error);
  await page.getByRole('button', { name: 'Start with 1' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Stopped: 1 of 1 failed again' })).toBeVisible();

  await page.goto('/outboxes/escrow/dead-letters');
  await causeOf(page, error).getByRole('button', { name: 'About this cause' }).click();
  const opened = page.getByRole('cell').filter({ hasText: 'Together because all of them have this text:' });
  // One of them is enough where all have one text.
  await expect(opened.getByText(error)).toHaveCount(1);
  await expect(opened.getByText('What plans of this cause did:')).toBeVisible();
  await expect(opened.getByRole('link', { name: /once more.*Stopped: 1 of 1 failed again/i })).toBeVisible();
  await opened.getByRole('button', { name: 'Write a note' }).click();
  await page.getByRole('textbox', { name: 'Note' }).fill('the node is being replaced');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(opened.getByText('the node is being replaced')).toBeVisible();
  expect(await axeFindings(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await scrollsSideways(page)).toBe(false);

  const viewer = await signIn('viewer');
  await viewer.goto('/outboxes/escrow/dead-letters');
  await expect(viewer.getByRole('table', { name: 'Dead events by error and type' })).toBeVisible();
  await expect(viewer.getByText('the node is being replaced')).toHaveCount(0);
});

test('a list is planned by its filter, and cancelled between two batches nothing else is touched', async ({ signIn, database }) => {
  const escrow = database('escrow');
  const error = ownError();
  const ids = (await insertEscrows(escrow, 60, { error, ageMinutes: 30 })).map(({ id }) => id);
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events?state=dead&error=${encodeURIComponent(error)}`);
  await page.getByRole('checkbox', { name: /^Select all 50/ }).click();
  const bar = page.getByRole('region', { name: 'Selected events' });
  await expect(bar).toContainText('50 selected');
  await bar.getByRole('button', { name: 'Plan the whole list' }).click();
  await page.getByLabel('Operation').selectOption({ label: 'Plan archiving' });
  await page.getByLabel('Reason').fill('never wanted');
  await page.getByRole('button', { name: 'Make the plan' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Archive 60 events of Escrow');
  // One dies again meanwhile: it is not what was planned.
  await escrow.query('UPDATE p2p.transaction_outbox SET retry_count = 6 WHERE id = $1', [ids[0]]);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.getByRole('status').filter({ hasText: '60: 59 done, 1 skipped' })).toBeVisible();
  expect(await states(escrow, ids)).toEqual({ failed: 1 });
  await expect(page.getByText(/Changed since you looked/)).toBeVisible();
});

test('ids that are not there are named, and nothing is planned', async ({ signIn, database }) => {
  const [row] = await insertEscrows(database('escrow'), 1);
  const page = await signIn('operator');
  await page.goto('/plans');
  await page.getByRole('combobox', { name: 'Outbox' }).last().selectOption({ label: 'Escrow' });
  const unknown = randomUUID();
  await page.getByLabel('Event ids').fill(`${row?.id ?? ''}\n${unknown}`);
  await page.getByLabel('Reason').fill('story: by their ids');
  await page.getByRole('button', { name: 'Make the plan' }).click();
  await expect(page.getByRole('alert').filter({ hasText: unknown })).toBeVisible();
  await page.getByLabel('Event ids').fill(row?.id ?? '');
  await page.getByRole('button', { name: 'Make the plan' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Requeue 1 event of Escrow');
  await page.getByRole('navigation', { name: 'Parts of the console' }).getByRole('link', { name: 'Plans' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'story: by their ids' }).first()).toContainText('Not started');
});
