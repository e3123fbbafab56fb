'use client';

const KEY = 'outbox-console.signed-out';

// What the other tabs of this browser show goes too, paused or not.
globalThis.window?.addEventListener('storage', ({ key }) => {
  if (key !== KEY) return;
  document.body.hidden = true;
  window.location.reload();
});

export async function signOut(): Promise<void> {
  // Used about once a day: no screen waits for this script.
  const { signOut: leave } = await import('next-auth/react');
  await leave({ redirect: false });
  // A full page load: nothing this person saw stays in memory.
  document.body.hidden = true;
  window.location.assign('/login');
  // Last: a browser may refuse to store.
  localStorage.setItem(KEY, new Date().toISOString());
}
