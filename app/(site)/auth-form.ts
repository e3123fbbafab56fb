import { BASE_PATH } from '@/lib/shared/base-path';

/**
 * Sends a form to next-auth with the token it wants. Not by its client: that knows no base path, and its script could not be loaded while
 * nothing answers. Sent without a token, the answer to a sign-out is OK and nothing ends: then what is answered here is null.
 */
export async function sendAuthForm(door: string, fields: Record<string, string>, signal?: AbortSignal): Promise<Response | null> {
  const token = await fetch(`${BASE_PATH}/api/auth/csrf`, { cache: 'no-store', signal });
  const { csrfToken } = (await token.json()) as { csrfToken: string };
  if (!token.ok) return null;
  const body = new URLSearchParams({ ...fields, csrfToken, json: 'true' });
  return fetch(`${BASE_PATH}/api/auth/${door}`, { method: 'POST', body, signal });
}
