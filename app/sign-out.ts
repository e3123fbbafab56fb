'use client';

const KEY = 'outbox-console.signed-out';

// What the other tabs of this browser show goes too, paused or not.
globalThis.window?.addEventListener('storage', ({ key }) => {
  if (key !== KEY) return;
  document.body.hidden = true;
  window.location.reload();
});

/** Not by next-auth's client: its script could not be loaded while nothing answers. Sent without a token, the answer is OK and nothing ends. */
async function isEnded(): Promise<boolean> {
  const signal = AbortSignal.timeout(10_000);
  const token = await fetch('/api/auth/csrf', { cache: 'no-store', signal });
  const { csrfToken } = (await token.json()) as { csrfToken: string };
  const body = new URLSearchParams({ csrfToken, json: 'true' });
  return token.ok && (await fetch('/api/auth/signout', { method: 'POST', body, signal })).ok;
}

/** Ends the session, as soon as the console answers; `onUnheard` after each try that it did not answer. */
export async function signOut(onUnheard: () => void): Promise<void> {
  while (!(await isEnded().catch(() => false))) {
    onUnheard();
    await new Promise((resume) => setTimeout(resume, 1_000));
  }
  // A full page load: nothing this person saw stays in memory.
  window.location.assign('/login');
  // Last: a browser may refuse to store.
  localStorage.setItem(KEY, new Date().toISOString());
}
