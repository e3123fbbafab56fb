'use client';

import { BASE_PATH } from '@/lib/shared/base-path';
import { sendAuthForm } from './auth-form';

const KEY = `outbox-console.signed-out${BASE_PATH}`;

// What the other tabs of this browser show goes too, paused or not.
globalThis.window?.addEventListener('storage', ({ key }) => {
  if (key !== KEY) return;
  document.body.hidden = true;
  window.location.reload();
});

const isEnded = async (): Promise<boolean> => (await sendAuthForm('signout', {}, AbortSignal.timeout(10_000)))?.ok === true;

/** Ends the session, as soon as the console answers; `onUnheard` after each try that it did not answer. */
export async function signOut(onUnheard: () => void): Promise<void> {
  while (!(await isEnded().catch(() => false))) {
    onUnheard();
    await new Promise((resume) => setTimeout(resume, 1_000));
  }
  // A full page load: nothing this person saw stays in memory.
  window.location.assign(`${BASE_PATH}/login`);
  // Last: a browser may refuse to store.
  localStorage.setItem(KEY, new Date().toISOString());
}
