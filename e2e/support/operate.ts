/** What an operator does on the event screen, by what is written there. */
import { expect, type Locator, type Page } from '@playwright/test';

export const OPERATION_BUTTONS = {
  retry: 'Try once more',
  requeue: 'Start over',
  release: 'Release',
  archive: 'Archive',
  restore: 'Restore',
} as const;
export type OperationKey = keyof typeof OPERATION_BUTTONS;

const CONFIRMED: Record<OperationKey, (events: string) => string> = {
  retry: (events) => `Try ${events} once more`,
  requeue: (events) => `Start ${events} over`,
  release: (events) => `Release ${events}`,
  archive: (events) => `Archive ${events}`,
  restore: (events) => `Restore ${events}`,
};

export function operationButton(page: Page, operation: OperationKey): Locator {
  return page.getByRole('button', { name: new RegExp(`^${OPERATION_BUTTONS[operation]}( \\(|$)`) });
}

/** Opens the dialog of an operation and waits for its preview. */
export async function openDialog(page: Page, operation: OperationKey): Promise<Locator> {
  await operationButton(page, operation).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Reason')).toBeVisible();
  return dialog;
}

export function confirmButton(dialog: Locator, operation: OperationKey, count = 1): Locator {
  return dialog.getByRole('button', { name: CONFIRMED[operation](`${String(count)} event${count === 1 ? '' : 's'}`) });
}

/** The whole way: dialog, reason, confirm, result, and its title once it says `result`; the dialog is closed again. */
export async function operate(page: Page, operation: OperationKey, reason: string, result?: string): Promise<void> {
  const dialog = await openDialog(page, operation);
  await dialog.getByLabel('Reason').fill(reason);
  await confirmButton(dialog, operation).click();
  await expect(dialog.getByRole('link', { name: 'See the record' })).toBeVisible();
  if (result !== undefined) await expect(dialog.getByRole('heading', { name: result })).toBeVisible();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(dialog).toBeHidden();
}
