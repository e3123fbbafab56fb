'use client';

export async function signOut(): Promise<void> {
  // Used about once a day: no screen waits for this script.
  const { signOut: leave } = await import('next-auth/react');
  await leave({ redirect: false });
  // A full page load: nothing this person saw stays in memory.
  window.location.assign('/login');
}
