import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { expect, test } from './fixtures';
import { freePort, startScript, stopGroup, untilReady } from './support/programs';
import { operationButton } from './support/operate';
import { escrowRow, insertEscrow, intervene } from './support/rows';
import { sessionOf } from '@/scripts/testing/session';

/** A second console on the demo's databases, through `npm start`, without an operator's login for escrow. */
test('an outbox without an operator’s login is watched, says why it is read-only, and refuses', async ({
  page,
  world,
  database,
  playwright,
}) => {
  test.setTimeout(120_000);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'outbox-console-read-only-'));
  const config = parse(fs.readFileSync(world.config, 'utf8')) as { databases: Record<string, { operatorUrl?: string }> };
  delete config.databases.escrow?.operatorUrl;
  fs.writeFileSync(path.join(folder, 'console.yaml'), stringify(config), { mode: 0o600 });
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const started = startScript('start', {
    PORT: port,
    HOST: '127.0.0.1',
    OUTBOX_CONSOLE_CONFIG: path.join(folder, 'console.yaml'),
    NEXTAUTH_URL: url,
    NEXTAUTH_SECRET: 'a secret of the stories, long enough for a cookie',
  });
  try {
    await untilReady(started, path.join(folder, 'console.log'), 60);
    const { cookies } = await sessionOf(playwright.request, { ...world, url }, 'operator');
    const { id } = await insertEscrow(database('escrow'));
    const before = await escrowRow(database('escrow'), id);
    const context = await playwright.request.newContext({ baseURL: url, storageState: { cookies, origins: [] } });
    const { event } = (await (await context.get(`/api/v1/outboxes/escrow/events/${id}`)).json()) as {
      event: { id: string; version: string };
    };
    const answer = await intervene(context, 'escrow', { operation: 'archive', events: [event], headers: { origin: url } });
    await context.dispose();
    expect(answer).toMatchObject({ status: 403, body: { code: 'read_only' } });
    expect(await escrowRow(database('escrow'), id)).toEqual(before);

    await page.context().addCookies(cookies);
    await page.goto(`${url}/outboxes/escrow/events/${id}`);
    await expect(page.getByText(/no operator connection is configured/).first()).toBeVisible();
    await expect(operationButton(page, 'archive')).toBeHidden();
    await page.goto(`${url}/outboxes/escrow/events?state=dead`);
    await expect(page.getByText(/no operator connection is configured/).first()).toBeVisible();
    await page.goto(`${url}/outboxes/orders-kafka/events`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.getByText(/no operator connection is configured/)).toHaveCount(0);
    // Closed before its console is, so that it does not miss it aloud.
    await page.close();
  } finally {
    await stopGroup(started);
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
