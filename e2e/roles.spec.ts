import { ROLE_PERMISSIONS, ROLES, type Role } from '@/lib/shared/permissions';
import { expect, test } from './fixtures';
import { confirmButton, OPERATION_BUTTONS, openDialog, operationButton, type OperationKey } from './support/operate';
import { escrowRow, insertEscrow, intervene, seen } from './support/rows';

const OPERATIONS = Object.keys(OPERATION_BUTTONS) as OperationKey[];

for (const role of ROLES) {
  const may = ROLE_PERMISSIONS[role].includes('event:operate');

  for (const operation of OPERATIONS) {
    test(`${role}: ${operation} is ${may ? 'carried out' : 'refused and audited'}`, async ({
      api,
      database,
      sessions,
      playwright,
      world,
    }) => {
      const escrow = database('escrow');
      const { id } = await insertEscrow(escrow, operation === 'release' ? { status: 'processing', retryCount: 1 } : {});
      if (operation === 'restore') await intervene(api, 'escrow', { operation: 'archive', events: [await seen(api, 'escrow', id)] });
      const event = await seen(api, 'escrow', id);
      const before = await escrowRow(escrow, id);
      const { cookies, email } = await sessions(role);
      const context = await playwright.request.newContext({ baseURL: world.url, storageState: { cookies, origins: [] } });
      const reason = `story: ${role} tries to ${operation}`;
      const answer = await intervene(context, 'escrow', { operation, events: [event], reason, headers: { origin: world.url } });
      await context.dispose();
      if (may) {
        expect(answer).toMatchObject({ status: 200, body: { outcome: 'applied', changed: [id] } });
      } else {
        expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
        expect(await escrowRow(escrow, id)).toEqual(before);
      }
      await expect
        .poll(() =>
          database('store').query(`SELECT actor_name, outcome FROM audit_entry WHERE reason = $1 AND event_id = $2`, [reason, id]),
        )
        .toEqual([{ actor_name: email, outcome: may ? 'applied' : 'refused' }]);
    });
  }

  test(`${role}: the event screen ${may ? 'offers the operations' : 'says why it offers none'}`, async ({ signIn, database }) => {
    const { id } = await insertEscrow(database('escrow'));
    const page = await signIn(role);
    await page.goto(`/outboxes/escrow/events/${id}`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    for (const operation of ['requeue', 'archive'] as const) await expect(operationButton(page, operation)).toBeVisible({ visible: may });
  });
}

test('a viewer who calls the server action of an operator directly is refused and audited', async ({
  signIn,
  watch,
  sessions,
  database,
  playwright,
  world,
}) => {
  const escrow = database('escrow');
  const { id } = await insertEscrow(escrow);
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events/${id}`);
  const dialog = await openDialog(page, 'archive');
  await dialog.getByLabel('Reason').fill('story: copied from an operator');
  // The operator's own call never arrives; the viewer sends it instead.
  watch.allow(/ERR_FAILED/);
  const called = page.waitForRequest(
    (request) => request.method() === 'POST' && (request.postData() ?? '').includes('copied from an operator'),
  );
  await page.route('**/*', async (route) => {
    if ((route.request().postData() ?? '').includes('copied from an operator')) await route.abort();
    else await route.continue();
  });
  await confirmButton(dialog, 'archive').click();
  const request = await called;
  const sent = await request.allHeaders();
  await page.close();
  const { cookies, email } = await sessions('viewer' satisfies Role);
  const viewer = await playwright.request.newContext({ baseURL: world.url, storageState: { cookies, origins: [] } });
  const answer = await viewer.post(request.url(), {
    headers: {
      'next-action': sent['next-action'] ?? '',
      'content-type': sent['content-type'] ?? '',
      accept: 'text/x-component',
      origin: world.url,
    },
    data: request.postDataBuffer() ?? '',
  });
  expect(await answer.text()).toContain('"code":"forbidden"');
  await viewer.dispose();
  expect((await escrowRow(escrow, id))?.status).toBe('failed');
  await expect
    .poll(() => database('store').query(`SELECT actor_name, outcome, code FROM audit_entry WHERE event_id = $1`, [id]))
    .toEqual([{ actor_name: email, outcome: 'refused', code: 'forbidden' }]);
});

test('a cookie without our own Origin changes nothing', async ({ sessions, api, database, playwright, world }) => {
  const escrow = database('escrow');
  const { id } = await insertEscrow(escrow);
  const { cookies } = await sessions('operator');
  const context = await playwright.request.newContext({ baseURL: world.url, storageState: { cookies, origins: [] } });
  for (const origin of [undefined, 'https://elsewhere.example']) {
    const answer = await intervene(context, 'escrow', {
      operation: 'archive',
      events: [await seen(api, 'escrow', id)],
      headers: origin === undefined ? {} : { origin },
    });
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  }
  await context.dispose();
  expect((await escrowRow(escrow, id))?.status).toBe('failed');
});

test('a viewer sees masked fields masked, an operator in the clear', async ({ sessions, database, playwright, world }) => {
  const { id } = await insertEscrow(database('escrow'));
  const texts: Record<string, string> = {};
  for (const role of ['viewer', 'operator'] as const) {
    const { cookies } = await sessions(role);
    const context = await playwright.request.newContext({ baseURL: world.url, storageState: { cookies, origins: [] } });
    texts[role] = await (await context.get(`/api/v1/outboxes/escrow/events/${id}`)).text();
    await context.dispose();
  }
  expect(texts.operator).toContain('story-customer@example.com');
  expect(texts.viewer).not.toContain('story-customer@example.com');
});
