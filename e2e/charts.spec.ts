import type { APIRequestContext, Page } from '@playwright/test';
import type { Series } from '@/lib/shared/model';
import { expect, test } from './fixtures';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A span of its own that is over, so that it is the same whenever it is asked for: whole hours before now. */
function pastSpan(hoursAgo: number, hours: number): { from: string; to: string } {
  const start = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - hoursAgo * HOUR_MS;
  const iso = (at: number) => new Date(at).toISOString().replace('.000Z', 'Z');
  return { from: iso(start), to: iso(start + hours * HOUR_MS) };
}

const spanQuery = (span: { from: string; to: string }) => new URLSearchParams(span).toString();

const waitingChart = (page: Page) => page.getByRole('slider', { name: /^Waiting, and how old/ });

const flowChart = (page: Page) => page.getByRole('slider', { name: /^Created against published/ });

async function dragOver(page: Page, fromShare: number, toShare: number): Promise<void> {
  const plot = waitingChart(page);
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  if (box === null) throw new Error('The chart has no place');
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * fromShare, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * toShare, y, { steps: 8 });
  await page.mouse.up();
}

/** CSV as rows of fields by name; none of ours holds a quoted field. */
async function csvOf(api: APIRequestContext, path: string): Promise<Record<string, string>[]> {
  const answer = await api.get(path);
  expect(answer.headers()['content-type']).toContain('text/csv');
  const [header = '', ...lines] = (await answer.text()).trimEnd().split('\r\n');
  const names = header.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((text, index) => [names[index] ?? '', text])));
}

test('dragging over a chart shows that span in all of them, with more points, and going back takes it back', async ({ signIn }) => {
  const page = await signIn('viewer');
  await page.goto('/outboxes/orders-kafka?window=24h');
  await expect(page.getByText('last 24 h, a point every 15 m')).toBeVisible();
  await dragOver(page, 0.4, 0.5);
  await expect(page).toHaveURL(/window=24h&from=[^&]+Z&to=[^&]+Z$/);
  await expect(page.getByText(/a point every 1 m$/)).toBeVisible();
  await expect(page.getByRole('radio', { name: 'Custom range' })).toBeChecked();
  const { searchParams } = new URL(page.url());
  const hours = (Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')) / HOUR_MS;
  expect(hours).toBeGreaterThan(1.9);
  expect(hours).toBeLessThan(3.1);

  await page.goBack();
  await expect(page.getByText('last 24 h, a point every 15 m')).toBeVisible();
  await page.goForward();
  await page.getByRole('button', { name: 'Reset zoom' }).click();
  await expect(page).toHaveURL(/\?window=24h$/);
});

test('a span is chosen by its two times, too, and a senseless one is refused in words', async ({ signIn }) => {
  const page = await signIn('viewer');
  await page.goto('/outboxes/orders-kafka');
  await page.getByRole('button', { name: 'Choose a time' }).click();
  const editor = page.getByRole('dialog', { name: 'Choose a time' });
  const { from } = pastSpan(5, 3);
  const wall = (at: number) => new Date(at).toISOString().slice(0, 16);
  await editor.getByLabel('From').fill(wall(Date.parse(from)));
  await editor.getByLabel('To').fill(wall(Date.parse(from) + 5 * MINUTE_MS));
  await editor.getByRole('button', { name: 'Show this time' }).click();
  await expect(editor).toContainText('At least 15 minutes');
  await editor.getByLabel('To').fill(wall(Date.parse(from) + 3 * HOUR_MS));
  await editor.getByRole('button', { name: 'Show this time' }).click();
  await expect(page).toHaveURL(new RegExp(encodeURIComponent(from)));
  await expect(editor).toBeHidden();
});

test('a chart is read and zoomed by keys alone', async ({ signIn }) => {
  const page = await signIn('viewer');
  await page.goto('/outboxes/orders-kafka?window=24h');
  const plot = waitingChart(page);
  await plot.focus();
  await expect(plot).toBeFocused();
  const readings = new Set<string>();
  for (let step = 0; step < 3; step++) {
    await page.keyboard.press('ArrowLeft');
    readings.add((await plot.getAttribute('aria-valuetext')) ?? '');
  }
  expect(readings.size).toBe(3);
  expect([...readings][0]).toMatch(/\d\d:\d\d – \d\d:\d\d, waiting \S+/);
  // What one chart is read at, all are.
  const at = await plot.getAttribute('aria-valuenow');
  await expect(flowChart(page)).toHaveAttribute('aria-valuenow', at ?? '');
  for (let step = 0; step < 8; step++) await page.keyboard.press('Shift+ArrowLeft');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\?window=24h$/);
  for (let step = 0; step < 9; step++) await page.keyboard.press('Shift+ArrowLeft');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/from=/);
});

test('the cursor is in step in all charts', async ({ signIn }) => {
  const page = await signIn('viewer');
  await page.goto('/outboxes/orders-kafka?window=24h');
  await expect(waitingChart(page)).toBeVisible();
  await waitingChart(page).hover({ position: { x: 200, y: 40 } });
  const times = page.locator('[data-reading]');
  await expect.poll(() => times.count()).toBeGreaterThanOrEqual(4);
  expect(new Set(await times.locator('p:first-child').allTextContents()).size).toBe(1);
});

test('the table of a chart and the CSV say the same', async ({ signIn, api }) => {
  const span = pastSpan(3, 2);
  const page = await signIn('viewer');
  await page.goto(`/outboxes/orders-kafka?${spanQuery(span)}`);
  const link = page.getByRole('link', { name: 'CSV' });
  const path = (await link.getAttribute('href')) ?? '';
  const rows = await csvOf(api, path);
  expect(rows).toHaveLength(120);
  expect(rows[0]?.['from (UTC)']).toBe(span.from.replace('Z', '.000Z'));
  await page.getByText('Show as a table Created against published').click();
  await page.getByText('Show as a table Created to published, by duration').click();
  const table = async (title: string, column: number) =>
    page
      .getByRole('region', { name: `${title} as a table` })
      .locator(`tbody tr`)
      .evaluateAll((lines, at) => lines.map((line) => [line.getAttribute('data-at'), line.children[at]?.textContent]), column);
  const said = (text: string | undefined, digits = 0) =>
    text === undefined || text === '' ? 'not known' : new Intl.NumberFormat('en', { maximumFractionDigits: digits }).format(Number(text));
  await expect
    .poll(() => table('Created to published, by duration', 7))
    .toEqual(rows.map((row) => [row['from (UTC)'], said(row['latency up to 1000 ms (events)'])]).reverse());
  const rate = (text: string | undefined) => said(text, Math.abs(Number(text)) < 10 ? 1 : 0);
  await expect
    .poll(() => table('Created against published', 1))
    .toEqual(rows.map((row) => [row['from (UTC)'], rate(row['created (events/min)'])]).reverse());
  expect(rows.some((row) => Number(row['created (events)']) > 0)).toBe(true);
});

test('minutes that nobody watched are a gap, in the chart, the table and the CSV', async ({ signIn, api, database }) => {
  test.slow();
  const span = pastSpan(10, 2);
  const read = async () => (await (await api.get(`/api/v1/outboxes/notifications/series?${spanQuery(span)}`)).json()) as Series;
  const [from, to] = [Date.parse(span.from) + 40 * MINUTE_MS, Date.parse(span.from) + 80 * MINUTE_MS];
  const isCut = ({ at }: { at: string }) => Date.parse(at) >= from && Date.parse(at) < to;
  // A console that has just started reads the past first.
  await expect.poll(async () => (await read()).points.filter((point) => point.gap && !isCut(point)).length).toBe(0);
  await database('store').query(
    `DELETE FROM rollup WHERE outbox = 'notifications' AND tier = 'minute' AND at_minute >= $1 AND at_minute < $2`,
    [from / MINUTE_MS, to / MINUTE_MS],
  );
  const gaps = (await read()).points.filter(({ gap }) => gap).map(({ at }) => Date.parse(at));
  expect([gaps.length, gaps[0], gaps.at(-1)]).toEqual([40, from, to - MINUTE_MS]);
  const rows = await csvOf(api, `/api/v1/outboxes/notifications/series?${spanQuery(span)}&format=csv`);
  expect(rows.filter(({ watched }) => watched === 'no')).toHaveLength(40);

  const page = await signIn('viewer');
  await page.goto(`/outboxes/notifications?${spanQuery(span)}`);
  await expect(page.locator('[data-gap]').first()).toBeVisible();
  await expect(page.locator('[data-gap]').first()).toHaveText('not watched');
  const box = await flowChart(page).boundingBox();
  await flowChart(page).hover({ position: { x: (box?.width ?? 0) / 2, y: 30 } });
  await expect(page.locator('[data-reading]').first()).toContainText('Not watched');
  await page.getByText('Show as a table Created against published').click();
  const table = page.getByRole('region', { name: 'Created against published as a table' });
  await expect(table.getByRole('row', { name: /not watched/ })).toHaveCount(40);
});

test('a deploy sent by a script and a note written on the screen are on every chart, with their words', async ({ signIn, api }) => {
  const text = `story ${String(Date.now())}`;
  const at = new Date(Date.now() - 20 * MINUTE_MS).toISOString();
  await api.post('/api/v1/marks', { data: { kind: 'deploy', text: `deploy of ${text}`, outbox: 'notifications', at } });
  const page = await signIn('operator');
  await page.goto('/outboxes/notifications');
  const deploys = page.getByRole('button', { name: new RegExp(`^Deploy: deploy of ${text} · `) });
  await expect(deploys.first()).toBeVisible();
  expect(await deploys.count()).toBe(await page.getByRole('slider').count());
  await deploys.first().focus();
  await expect(page.getByRole('tooltip')).toContainText(`deploy of ${text}`);

  await page.getByRole('button', { name: 'Add a mark' }).click();
  const editor = page.getByRole('dialog', { name: 'Add a mark' });
  await editor.getByText('Note', { exact: true }).click();
  await editor.getByLabel('In words').fill(`note on ${text}`);
  await editor.getByRole('button', { name: 'Add a mark' }).click();
  await expect(editor).toBeHidden();
  const notes = page.getByRole('button', { name: new RegExp(`^Note: note on ${text} · `) });
  await expect(notes.first()).toBeVisible();

  await notes.first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Take it off the charts' }).click();
  await expect(notes).toHaveCount(0);
  await expect(deploys.first()).toBeVisible();
  const { entries } = (await (await api.get('/api/v1/audit?outbox=notifications')).json()) as {
    entries: { operation: string; reason: string }[];
  };
  expect(entries.filter(({ reason }) => reason === `note on ${text}`).map(({ operation }) => operation)).toEqual(['unmark', 'mark']);
});

test('who may not mark is not offered it, nor to take one off', async ({ signIn, api }) => {
  const text = `story for a viewer ${String(Date.now())}`;
  await api.post('/api/v1/marks', { data: { kind: 'incident', text, outbox: 'notifications' } });
  const page = await signIn('viewer');
  const flags = page.getByRole('button', { name: new RegExp(`^Incident: ${text} · `) });
  await page.goto('/outboxes/notifications');
  await expect(page.getByRole('link', { name: 'CSV' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Add a mark' })).toBeHidden();
  await expect(flags.first()).toBeVisible();
  await flags.first().click();
  await expect(page.getByRole('button', { name: 'Take it off the charts' })).toBeHidden();
});

test('a type leads to charts of its own, and back to all', async ({ signIn }) => {
  const page = await signIn('viewer');
  await page.goto('/outboxes/escrow?window=24h');
  await page.getByRole('link', { name: 'Charts of order_complete only' }).click();
  await expect(page).toHaveURL(/window=24h&type=order_complete$/);
  await expect(page.getByText('only order_complete')).toBeVisible();
  await expect(page.getByRole('link', { name: 'CSV' })).toHaveAttribute('href', /type=order_complete/);
  await page.getByRole('button', { name: 'Show all types again' }).click();
  await expect(page).toHaveURL(/\?window=24h$/);
});

test('how an outbox is collected is said in a line, and in full on demand', async ({ signIn }) => {
  const page = await signIn('viewer');
  await page.goto('/outboxes/orders-kafka');
  await expect(page.getByText(/history up to \d\d:\d\d:\d\d/)).toBeVisible();
  await page.getByRole('button', { name: 'How it is collected' }).click();
  await expect(page.getByRole('dialog', { name: 'How it is collected' })).toContainText(/statements, .* rows/);
});
