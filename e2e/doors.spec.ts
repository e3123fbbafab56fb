import { randomBytes } from 'node:crypto';
import type { APIRequestContext } from '@playwright/test';
import { MINE, MINE_DDL } from '@/fixtures/mapping';
import type { ReadOnlyReason } from '@/lib/shared/changes/read-only';
import type { Role } from '@/lib/shared/permissions';
import { sessionOf } from '@/scripts/testing/session';
import { expect, test } from './fixtures';
import { openDatabase, type Database } from './support/database';
import { confirmButton, OPERATION_BUTTONS, openDialog, operationButton, type OperationKey } from './support/operate';
import { insertEscrow, intervene, seen } from './support/rows';
import { callAction } from './support/server-actions';
import { secondConsole, type SecondConsole } from './support/second-console';

/** One console for all of them, beside the demo's own, and a database that nobody else looks at. */
test.describe.configure({ mode: 'serial' });

const OWN = randomBytes(4).toString('hex');
const UNPROVEN = `unproven-${OWN}`;
const BARE = `bare-${OWN}`;
const BARRED = `barred-${OWN}`;
/** Their tables. */
const TABLES: Record<string, string> = { [UNPROVEN]: 'mine', [BARE]: 'bare', [BARRED]: 'barred' };
const OPERATIONS = Object.keys(OPERATION_BUTTONS) as OperationKey[];

/** With a word of its own for a state, and a time before which nothing is tried. */
const WORDED = {
  ...MINE,
  columns: { ...MINE.columns, availableAt: 'made_at' },
  states: MINE.states.map((rule) => (rule.state === 'dead' ? { ...rule, label: 'given up' } : rule)),
};

const started: { console?: SecondConsole; tables?: Database; drop?: () => Promise<void> } = {};
function second(): SecondConsole {
  if (started.console === undefined) throw new Error('the second console has not been started');
  return started.console;
}

test.beforeAll(async ({ world, database }) => {
  const server = database('escrow');
  const name = `story_doors_${OWN}`;
  const on = (url: string | undefined): string => Object.assign(new URL(url ?? ''), { pathname: `/${name}` }).href;
  await server.query(`CREATE DATABASE ${name}`);
  started.drop = async () => void (await server.query(`DROP DATABASE ${name} WITH (FORCE)`));
  const owner = on(world.databases.escrow);
  const tables = openDatabase(owner);
  started.tables = tables;
  for (const table of Object.values(TABLES)) {
    await tables.query(MINE_DDL.replace('mine', table));
    await tables.query(
      `INSERT INTO ${table} (kind, body, state, tries, key) SELECT 'mail', '{}', 3, 9, 'k' || i FROM generate_series(1, 3) AS i`,
    );
  }
  const console = await secondConsole(world, (config) => {
    const { url, operatorUrl } = config.databases['orders-kafka'] ?? { url: '' };
    delete config.databases.escrow?.operatorUrl;
    config.databases.doors = { url: on(url), operatorUrl: on(operatorUrl) };
    for (const [id, table] of Object.entries(TABLES))
      config.outboxes.push({ id, name: id, database: 'doors', table, shape: id === BARE ? WORDED : MINE });
  });
  started.console = console;
  await tables.query('GRANT SELECT ON bare TO PUBLIC');
  const installed = await Promise.all([UNPROVEN, BARRED].map((id) => console.command('install', id, '--apply', '--url', owner)));
  expect(installed.map(({ status, error }) => [status, error])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  const { operatorUrl = '' } = console.config.databases.doors ?? {};
  await tables.query(`REVOKE INSERT, UPDATE, DELETE ON barred FROM ${new URL(operatorUrl).username}`);
  await console.start();
});

test.afterAll(async () => {
  await started.console?.stop();
  await started.tables?.close();
  await started.drop?.();
});

interface Case {
  outbox: string;
  why: ReadOnlyReason;
  /** What the screens say: what is in the way, and what can be done. */
  says: RegExp;
  /** What scripts are told to do. */
  advice: string;
}

const CASES: Case[] = [
  {
    outbox: 'escrow',
    why: 'no_operator_url',
    says: /no operator connection is configured .* can add operatorUrl/,
    advice: 'add one to the configuration',
  },
  {
    outbox: BARE,
    why: 'not_installed',
    says: /record tables are not installed .* Run npm run console -- install/,
    advice: `npm run console -- install ${BARE}`,
  },
  {
    outbox: BARRED,
    why: 'no_grant',
    says: /operator's database role lacks a privilege\. Run npm run console -- install/,
    advice: `npm run console -- install ${BARRED} and apply its grants`,
  },
  {
    outbox: UNPROVEN,
    why: 'mapping_not_proven',
    says: /nobody has proven yet .* An administrator can prove it/,
    advice: `npm run console -- prove ${UNPROVEN}`,
  },
];

for (const { outbox, why, says, advice } of CASES) {
  test(`${why}: no page offers an operation, no action, route or command carries one out, and each says why`, async ({
    page,
    database,
    playwright,
  }) => {
    const console = second();
    const { url } = console.world;
    const { cookies } = await sessionOf(playwright.request, console.world, 'operator');
    const request = await playwright.request.newContext({ baseURL: url, storageState: { cookies, origins: [] } });
    const id = outbox === 'escrow' ? (await insertEscrow(database('escrow'))).id : '1';
    const rows = () =>
      outbox === 'escrow'
        ? database('escrow').query('SELECT *, xmin FROM p2p.transaction_outbox WHERE id = $1', [id])
        : started.tables?.query(`SELECT *, xmin FROM ${TABLES[outbox] ?? ''} ORDER BY id`);
    const before = await rows();
    const event = await seen(request, outbox, id);

    for (const operation of OPERATIONS) {
      const answer = await intervene(request, outbox, { operation, events: [event], headers: { origin: url } });
      expect(answer, operation).toMatchObject({ status: 403, body: { code: 'read_only', because: why } });
      expect(answer.body.detail, operation).toContain(advice);
    }
    for (const operation of ['requeue', 'archive'] as const) {
      const action = await callAction(
        request,
        { address: `/outboxes/${outbox}/events/${id}`, name: 'intervene', origin: url },
        {
          outbox,
          request: { operation, events: [{ id: event.id, version: event.version }], reason: 'story: through the back door' },
          key: crypto.randomUUID(),
        },
      );
      expect(action, operation).toContain(`"because":"${why}"`);
    }
    await request.dispose();

    await page.context().addCookies(cookies);
    const reason = page.getByText(says);
    await page.goto(`${url}/outboxes/${outbox}/events/${id}`);
    await expect(reason).toBeVisible();
    for (const operation of OPERATIONS) await expect(operationButton(page, operation)).toBeHidden();
    for (const address of [`/outboxes/${outbox}/events?state=dead`, `/outboxes/${outbox}/dead-letters`]) {
      await page.goto(`${url}${address}`);
      await expect(page.locator('[data-event]').first()).toBeVisible();
      await expect(reason, address).toBeVisible();
      await expect(page.getByRole('checkbox'), address).toHaveCount(0);
    }
    await page.goto(`${url}/outboxes/${outbox}`);
    await expect(reason).toBeVisible();
    await page.goto(`${url}/dead-letters`);
    const section = page.getByRole('region', { name: new RegExp(outbox, 'i') });
    await expect(section.getByText(says)).toBeVisible();
    await expect(section.getByRole('checkbox')).toHaveCount(0);
    // Closed before its console is, so that it does not miss it aloud.
    await page.close();

    // A proof of the third one is what opens it: the next story.
    if (why !== 'mapping_not_proven') {
      const proof = await console.command('prove', outbox);
      expect(proof).toMatchObject({ status: 1, out: '' });
      expect(proof.error).toContain(`(${why}): `);
      expect(proof.error).toContain(advice);
    }
    expect(await rows()).toEqual(before);
  });
}

test('the command line has no verb that changes an event', async () => {
  const { out } = await second().command('--help');
  expect(out).toContain('prove');
  const verbs = [...out.matchAll(/^ {2}(\w+)/gm)].map(([, verb]) => verb);
  expect(verbs.filter((verb) => OPERATIONS.some((operation) => operation === verb) || verb === 'intervene')).toEqual([]);
  expect(await second().command('requeue', UNPROVEN, '1')).toMatchObject({ status: 2, out: '' });
});

test('an outbox that is not configured to be changed leaves the others as they are', async ({ page, playwright }) => {
  const { world } = second();
  const { cookies } = await sessionOf(playwright.request, world, 'operator');
  await page.context().addCookies(cookies);
  await page.goto(`${world.url}/outboxes/orders-kafka/events`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.getByText(/^Read-only/)).toHaveCount(0);
  await page.close();
});

test('an event says its state in the library’s own word, and when it is due', async ({ page, playwright }) => {
  const { world } = second();
  const { cookies } = await sessionOf(playwright.request, world, 'viewer');
  await page.context().addCookies(cookies);
  await page.goto(`${world.url}/outboxes/${BARE}/events/1`);
  await expect(page.getByText('given up').first()).toBeVisible();
  const facts = page.getByRole('region', { name: 'Facts' });
  await expect(facts.getByText('Due')).toBeVisible();
  await expect(facts.getByText('Claimed by')).toHaveCount(0);
  await page.goto(`${world.url}/outboxes/${BARE}/events`);
  await expect(page.getByRole('row').filter({ hasText: 'given up' })).toHaveCount(3);
  await page.close();
});

test('an administrator proves a mapping, sees what each operation does, and turns changes on; a viewer can do neither', async ({
  page,
  playwright,
}) => {
  const { world } = second();
  const as = async (role: Role): Promise<APIRequestContext> => {
    const { cookies } = await sessionOf(playwright.request, world, role);
    return playwright.request.newContext({ baseURL: world.url, storageState: { cookies, origins: [] } });
  };
  const viewer = await as('viewer');
  const address = `/outboxes/${UNPROVEN}/settings`;
  await page.context().addCookies((await viewer.storageState()).cookies);
  await page.goto(`${world.url}${address}`);
  await expect(page.getByText('An administrator can run the proof and turn changes on or off.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Run the proof' })).toHaveCount(0);
  for (const [name, input] of [
    ['proveMapping', { outbox: UNPROVEN, proof: { events: [] } }],
    ['turnChanges', { outbox: UNPROVEN, request: { on: true, reason: 'story: a viewer' } }],
  ] as const)
    expect(await callAction(viewer, { address, name, origin: world.url }, input), name).toContain('"code":"forbidden"');
  await viewer.dispose();

  const admin = await as('admin');
  await page.context().clearCookies();
  await page.context().addCookies((await admin.storageState()).cookies);
  await page.goto(`${world.url}${address}`);
  await expect(page.getByRole('button', { name: 'Turn changes on' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Run the proof' }).click();
  await expect(page.getByText('Proven. Turn changes on when you are ready.')).toBeVisible();
  await expect(page.getByText(/^Run by admin@outbox\.local, .* ago · Fingerprint/)).toBeVisible();
  const results = page.locator('[data-verdict]');
  expect(await results.count()).toBeGreaterThanOrEqual(7);
  await expect(page.locator('[data-verdict="does_not"]')).toHaveCount(0);
  const requeued = results.filter({ hasText: 'Start over' });
  await expect(requeued).toContainText('Dead');
  await expect(requeued).toContainText('Pending');
  await expect(requeued).toContainText('state');
  await requeued.getByText('Show what ran').click();
  await expect(requeued.locator('pre').first()).toContainText(/select|update|insert|delete/i);
  expect(await started.tables?.query('SELECT count(*)::int AS rows, min(state) AS state FROM mine')).toEqual([{ rows: 3, state: 3 }]);

  await page.getByRole('button', { name: 'Turn changes on' }).click();
  const form = page.getByRole('dialog', { name: 'Turn changes on' });
  await form.getByLabel('Reason').fill('story: every operation was read');
  await form.getByRole('button', { name: 'Turn changes on' }).click();
  await expect(page.getByRole('heading', { name: 'Changes are on' })).toBeVisible();
  await expect(page.getByText(/“story: every operation was read”/)).toBeVisible();

  const operator = await as('operator');
  await page.context().clearCookies();
  await page.context().addCookies((await operator.storageState()).cookies);
  await page.goto(`${world.url}/outboxes/${UNPROVEN}/events/1`);
  const dialog = await openDialog(page, 'requeue');
  await dialog.getByLabel('Reason').fill('story: turned off meanwhile');
  // Turned off while somebody is about to press: refused, with the reason.
  const turn = (on: boolean) =>
    admin.put(`/api/v1/outboxes/${UNPROVEN}/changes`, {
      headers: { origin: world.url },
      data: { on, reason: 'story: the other way round' },
    });
  expect((await turn(false)).status()).toBe(200);
  await confirmButton(dialog, 'requeue').click();
  await expect(dialog.getByText(/changes are turned off for this outbox\. An administrator can turn them on/)).toBeVisible();
  expect(await started.tables?.query('SELECT state FROM mine WHERE id = 1')).toEqual([{ state: 3 }]);
  expect((await turn(true)).status()).toBe(200);
  await confirmButton(dialog, 'requeue').click();
  await expect(dialog.getByRole('link', { name: 'See the record' })).toBeVisible();
  expect(await started.tables?.query('SELECT state, tries FROM mine WHERE id = 1')).toEqual([{ state: 0, tries: 0 }]);
  await operator.dispose();
  await admin.dispose();
  await page.close();
});
