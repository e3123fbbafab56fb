'use client';

/** Ends the session on the server and goes to the sign-in page. */
export async function signOut(): Promise<void> {
  // Needed once a day at most: no screen waits for its script.
  const { signOut: leave } = await import('next-auth/react');
  await leave({ redirect: false });
  // A whole new page: nothing this person saw stays in memory.
  window.location.assign('/login');
}
