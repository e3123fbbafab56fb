import type { Metadata } from 'next';
import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';
import { getTranslations } from 'next-intl/server';
import { publicOrigin, ownPath } from '@/lib/server/auth/origin';
import { definePublicPage } from '@/lib/server/page';
import { isSignedIn } from '@/lib/server/auth/session';
import { LoginForm } from './login-form';

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('login'))('title') };
}

export default definePublicPage({
  id: 'login',
  public: true,
  render: async ({ searchParams }) => {
    const callbackUrl = ownPath(searchParams.callbackUrl, publicOrigin());
    if (await isSignedIn(await cookies())) redirect(callbackUrl);
    return <LoginForm callbackUrl={callbackUrl} />;
  },
});
