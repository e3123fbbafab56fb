'use client';

import { signOut as leave } from 'next-auth/react';

/** Ends the session on the server and goes to the sign-in page. */
export async function signOut(): Promise<void> {
  await leave({ redirect: false });
  // A whole new page: nothing this person saw stays in memory.
  window.location.assign('/login');
}
