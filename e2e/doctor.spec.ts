import type { DoctorSnapshot } from '@/lib/shared/doctor';
import { expect, test } from './fixtures';

test('the worst the doctor found stands on the outbox’s screen; silenced with a reason it stands there no more', async ({
  signIn,
  api,
}) => {
  const answer = await api.post('/api/v1/doctor/examinations', { data: { outbox: 'escrow' } });
  const { examinations } = (await answer.json()) as DoctorSnapshot;
  const open = examinations[0]?.findings.filter(({ silence }) => silence === null) ?? [];
  expect(open.length).toBeGreaterThan(1);

  const page = await signIn('operator');
  await page.goto('/outboxes/escrow');
  const line = page.getByRole('paragraph').filter({ has: page.getByRole('link', { name: 'See the doctor' }) });
  await expect(line).toContainText(/and \d+ (that must be fixed|worth fixing|for information)/);
  await line.getByRole('link', { name: 'See the doctor' }).click();
  await expect(page).toHaveURL(/\/doctor\?outbox=escrow$/);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`${String(open.length)} findings`);

  const worst = page
    .getByRole('listitem')
    .filter({ has: page.getByRole('button', { name: 'Silence…' }) })
    .first();
  const what = (await worst.getByRole('heading', { level: 3 }).textContent()) ?? '';
  await worst.getByRole('button', { name: 'Silence…' }).click();
  const form = page.getByRole('dialog');
  await form.getByRole('button', { name: 'Silence the finding' }).click();
  await expect(form.getByText(/^Say why, in at least 3 characters/)).toBeVisible();
  await form.getByRole('textbox').fill('story: known and planned');
  await form.getByRole('button', { name: 'Silence the finding' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`${String(open.length - 1)} finding`);
  await page.goto('/outboxes/escrow');
  await expect(line).toBeVisible();
  await expect(line).not.toContainText(what);

  await page.goto('/doctor?outbox=escrow');
  await page
    .getByText(/^Silenced|silenced/)
    .first()
    .click();
  await expect(page.getByText('story: known and planned')).toBeVisible();
  await page.getByRole('button', { name: 'Lift the silence' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`${String(open.length)} findings`);
});

test('a doctor that cannot be asked says so, and what was known stays', async ({ signIn, api, watch }) => {
  watch.allow(/net::ERR_/);
  await api.post('/api/v1/doctor/examinations', { data: { outbox: 'notifications' } });
  const page = await signIn('operator');
  // Of an outbox whose findings no other story silences: what is read again without an examination is the same.
  await page.route('**/doctor?outbox=notifications', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
  await page.goto('/doctor?outbox=notifications');
  const lead = (await page.getByRole('heading', { level: 1 }).textContent()) ?? '';
  await page.getByRole('button', { name: 'Examine now' }).click();
  // The frame has a notice of its own, as reading fails too.
  const refused = page.locator('p[role="alert"]');
  await expect(refused).toContainText('does not answer');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(lead);
  await page.unroute('**/doctor?outbox=notifications');
  await page.getByRole('button', { name: 'Examine now' }).click();
  await expect(refused).toBeHidden();
});
