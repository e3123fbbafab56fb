/** Signs in over HTTP as the sign-in form does, without opening a page. */
import type { APIRequest, Cookie } from '@playwright/test';
import type { Role } from '@/lib/shared/permissions';
import type { World } from './world';

export interface Session {
  role: Role;
  email: string;
  cookies: Cookie[];
}

export async function sessionOf(request: APIRequest, world: World, role: Role): Promise<Session> {
  const account = world.accounts.find((candidate) => candidate.role === role);
  if (!account) throw new Error(`The demo has no account for the role ${role}`);
  const context = await request.newContext({ baseURL: world.url });
  try {
    const { csrfToken } = (await (await context.get('/api/auth/csrf')).json()) as { csrfToken: string };
    const answer = await context.post('/api/auth/callback/credentials', {
      form: { csrfToken, email: account.email, password: world.password, callbackUrl: world.url, json: 'true' },
    });
    if (!answer.ok()) throw new Error(`Sign-in of ${account.email} answered ${String(answer.status())}: ${await answer.text()}`);
    const { cookies } = await context.storageState();
    return { role, email: account.email, cookies };
  } finally {
    await context.dispose();
  }
}
